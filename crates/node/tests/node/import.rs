//! The chain through the node's own database and tries.

use std::collections::BTreeMap;

use alloy_primitives::{B256, Bytes, U256, keccak256};
use alloy_trie::Nibbles;
use alloy_trie::proof::verify_proof;
use residue_isa::Revision;
use residue_node::store::StateAt;

use crate::vectors::{chain, folder, imported};

#[test]
fn every_block_of_the_chain_is_imported_and_every_state_can_be_proved_afterwards() {
    let Some(folder) = folder() else { return };
    for revision in [None, Some(Revision::Eip6690_2024), Some(Revision::Evm384V7)] {
        let chain = imported(&folder, revision);
        let (number, hash, _) = chain.head().unwrap();
        assert_eq!(number, 54);
        assert_eq!(hash.to_string(), "0xd226371d0b1551adb03fb52b71f08e3e11247fe9b1af994768af8cdaa8e7dcd7");
    }
    let imported = imported(&folder, None);
    let (genesis, _) = chain(&folder);
    // Accounts of the genesis file, one with storage, one with none and one that is not there.
    let mut addresses: Vec<_> = genesis.alloc.keys().copied().collect();
    addresses.push(alloy_primitives::Address::repeat_byte(7));
    let slots: BTreeMap<_, _> =
        genesis.alloc.iter().map(|(address, account)| (*address, account.storage.clone())).collect();
    for number in 0..=54 {
        let header = imported.store().header(number).unwrap().unwrap();
        let state = imported.store().state(StateAt::Block(number)).unwrap();
        for address in &addresses {
            let held = slots.get(address).cloned().flatten().unwrap_or_default();
            let asked: Vec<U256> =
                held.keys().map(|slot| U256::from_be_bytes(slot.0)).chain([U256::ZERO, U256::from(77)]).collect();
            let (account, proofs) = state.proofs(*address, &asked).unwrap();
            let nodes: Vec<Bytes> = proofs.account.into_iter().map(Bytes::from).collect();
            let value = account.as_ref().map(alloy_rlp::encode);
            verify_proof(header.state_root, Nibbles::unpack(keccak256(address)), value, &nodes).unwrap();
            let Some(account) = account else { continue };
            for (slot, proof) in asked.iter().zip(proofs.slots) {
                let nodes: Vec<Bytes> = proof.into_iter().map(Bytes::from).collect();
                let value = state.slot(*address, *slot).unwrap();
                let value = (!value.is_zero()).then(|| alloy_rlp::encode(value));
                let key = Nibbles::unpack(keccak256(B256::from(*slot)));
                verify_proof(account.storage_root, key, value, &nodes).unwrap();
            }
        }
    }
}
