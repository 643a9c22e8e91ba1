//! Hard forks as revm names them.

use residue_isa::Fork;
use revm::primitives::hardfork::SpecId;

/// revm's name of the fork.
pub(crate) const fn spec_id(fork: Fork) -> SpecId {
    match fork {
        Fork::Frontier => SpecId::FRONTIER,
        Fork::Homestead => SpecId::HOMESTEAD,
        Fork::Tangerine => SpecId::TANGERINE,
        Fork::SpuriousDragon => SpecId::SPURIOUS_DRAGON,
        Fork::Byzantium => SpecId::BYZANTIUM,
        Fork::Petersburg => SpecId::PETERSBURG,
        Fork::Istanbul => SpecId::ISTANBUL,
        Fork::Berlin => SpecId::BERLIN,
        Fork::London => SpecId::LONDON,
        Fork::Paris => SpecId::MERGE,
        Fork::Shanghai => SpecId::SHANGHAI,
        Fork::Cancun => SpecId::CANCUN,
        Fork::Prague => SpecId::PRAGUE,
        Fork::Osaka => SpecId::OSAKA,
        Fork::Amsterdam => SpecId::AMSTERDAM,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_are_in_the_order_of_revm() {
        assert!(Fork::ALL.is_sorted_by(|a, b| a < b && spec_id(*a) < spec_id(*b)));
    }
}
