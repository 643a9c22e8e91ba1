"""Random transitions: states with contracts of random code, and transactions of every type, some of which are invalid."""

import random

from ethereum_rlp import rlp
from ethereum_spec_tools.evm_tools.utils import secp256k1_sign
from ethereum.crypto.hash import Hash32, keccak256
from ethereum_types.bytes import Bytes
from ethereum_types.numeric import U256, Uint

from addresses import CONTRACTS, DEPOSITS

SECRETS = [0x45A915E4D060149EB4365960E6A7A45F334393093061116B197E3240065FF2D8 + i for i in range(4)]
COINBASE = "0x2adc25665018aa1fe0e6bc666dac8fc2697ff9ba"
DELEGATING = ("Prague", "Osaka", "BPO1", "BPO2")
DEPOSIT_TOPIC = "649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5"

# name, byte, operands, results
PLAIN = [
    (0x01, 2, 1), (0x02, 2, 1), (0x03, 2, 1), (0x04, 2, 1), (0x05, 2, 1), (0x06, 2, 1), (0x07, 2, 1), (0x08, 3, 1),
    (0x09, 3, 1), (0x0A, 2, 1), (0x0B, 2, 1), (0x10, 2, 1), (0x11, 2, 1), (0x12, 2, 1), (0x13, 2, 1), (0x14, 2, 1),
    (0x15, 1, 1), (0x16, 2, 1), (0x17, 2, 1), (0x18, 2, 1), (0x19, 1, 1), (0x1A, 2, 1), (0x1B, 2, 1), (0x1C, 2, 1),
    (0x1D, 2, 1), (0x30, 0, 1), (0x32, 0, 1), (0x33, 0, 1), (0x34, 0, 1), (0x36, 0, 1), (0x38, 0, 1), (0x3A, 0, 1),
    (0x3D, 0, 1), (0x41, 0, 1), (0x42, 0, 1), (0x43, 0, 1), (0x44, 0, 1), (0x45, 0, 1), (0x46, 0, 1), (0x47, 0, 1),
    (0x48, 0, 1), (0x4A, 0, 1), (0x58, 0, 1), (0x59, 0, 1), (0x5A, 0, 1), (0x5F, 0, 1), (0x50, 1, 0),
]


def push(number):
    digits = number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")
    return bytes([0x5F + len(digits)]) + digits


class Code:
    """A program that mostly keeps its stack right."""

    def __init__(self, chance, addresses, is_osaka):
        self.chance, self.addresses, self.is_osaka = chance, addresses, is_osaka
        self.code, self.depth = b"", 0

    def small(self):
        return self.chance.choice([0, 0, 1, 2, 31, 32, 33, 64, 100, 200])

    def value(self):
        kinds = [self.small(), self.chance.getrandbits(256), self.chance.getrandbits(64), 2**256 - 1, 2**255]
        return self.chance.choice(kinds)

    def address(self):
        return self.chance.choice([int(a, 16) for a in self.addresses] + list(range(1, 18)) + [self.chance.getrandbits(160)])

    def op(self, byte, *arguments):
        """An instruction with its operands, the first on top."""
        self.code += b"".join(push(argument) for argument in reversed(arguments)) + bytes([byte])

    def step(self):
        chance = self.chance
        kind = chance.randrange(30)
        if kind < 10:
            byte, takes, gives = chance.choice(PLAIN + ([(0x1E, 1, 1)] if self.is_osaka else []))
            while self.depth < takes:
                self.code += push(self.value())
                self.depth += 1
            self.code += bytes([byte])
            self.depth += gives - takes
        elif kind < 13:
            self.op(0x55, self.small(), chance.choice([0, 0, 1, self.value()]))
        elif kind == 13:
            self.op(0x54, self.small())
            self.depth += 1
        elif kind == 14:
            self.op(0x5D, self.small(), self.value())
            self.op(0x5C, self.small())
            self.depth += 1
        elif kind == 15:
            topics = chance.randrange(5)
            self.op(0xA0 + topics, self.small(), self.small(), *[self.value() for _ in range(topics)])
        elif kind == 16:
            self.op(chance.choice([0x52, 0x53]), self.small(), self.value())
        elif kind == 17:
            self.op(chance.choice([0x51, 0x35, 0x40, 0x49]), self.small())
            self.depth += 1
        elif kind == 18:
            self.op(0x20, self.small(), self.small())
            self.depth += 1
        elif kind == 19:
            self.op(chance.choice([0x37, 0x39, 0x5E, 0x3E]), self.small(), self.small(), self.small())
        elif kind == 20:
            self.op(0x3C, self.address(), self.small(), self.small(), self.small())
        elif kind == 21:
            self.op(chance.choice([0x31, 0x3B, 0x3F]), self.address())
            self.depth += 1
        elif kind < 26:
            byte = chance.choice([0xF1, 0xF1, 0xF2, 0xF4, 0xFA])
            gas = chance.choice([0, 2300, 20000, 100000, 2**63])
            value = [chance.choice([0, 0, 1, 1000])] if byte in (0xF1, 0xF2) else []
            self.op(byte, gas, self.address(), *value, self.small(), self.small(), self.small(), self.small())
            self.depth += 1
        elif kind == 26:
            init = self.creation()
            self.op(0x52, 0, int.from_bytes(init[:32].ljust(32, b"\0"), "big"))
            salt = [self.small()] if chance.random() < 0.5 else []
            self.op(0xF5 if salt else 0xF0, chance.choice([0, 1]), 0, min(32, len(init)), *salt)
            self.depth += 1
        elif kind == 27 and chance.random() < 0.3:
            self.op(0xFF, self.address())
        elif kind == 28 and chance.random() < 0.3:
            self.op(chance.choice([0xF3, 0xFD]), self.small(), self.small())
        elif kind == 29 and chance.random() < 0.2:
            self.code += bytes([chance.choice([0x0C, 0xFE, 0x56, 0x57, 0xEF, 0x5B, 0xC0, 0xB0, 0x80, 0x90])])

    def creation(self):
        """Creation code: returns a few bytes, or reverts, or leaves a contract that destroys itself."""
        chance = self.chance
        body = chance.choice([b"\x33\xff", b"\x5f\x5f\xf3", b"\xef\x00", b"\x5f\x54\x60\x01\x01\x5f\x55", b""])
        end = b"\xfd" if chance.random() < 0.2 else b"\xf3"
        return push(int.from_bytes(body, "big")) + push(0) + b"\x52" + push(len(body)) + push(32 - len(body)) + end

    def made(self, steps):
        for _ in range(steps):
            self.step()
        return "0x" + self.code.hex()


def address_of(secret):
    from ethereum.crypto.elliptic_curve import secp256k1_recover

    message = Hash32(b"\1" * 32)
    r, s, y = secp256k1_sign(message, secret)
    return "0x" + keccak256(secp256k1_recover(r, s, y, message))[12:].hex()


def authorization(chance, secret, chain_id, address, nonce):
    encoded = b"\x05" + rlp.encode([Uint(chain_id), Bytes(bytes.fromhex(address[2:])), Uint(nonce)])
    r, s, y = secp256k1_sign(keccak256(encoded), secret)
    if chance.random() < 0.1:
        r = U256(5)
    fields = {"chainId": chain_id, "nonce": nonce, "v": int(y), "r": int(r), "s": int(s)}
    return {"address": address} | {name: hex(number) for name, number in fields.items()}


def deposit(chance):
    """Log data of the deposit contract: five byte strings of fixed lengths."""
    lengths = [48, 32, 8, 96, 8]
    head, tail = b"", b""
    for length in lengths:
        head += (160 + len(tail)).to_bytes(32, "big")
        tail += length.to_bytes(32, "big") + chance.randbytes(length) + b"\0" * (-length % 32)
    return head + tail


def transition(seed, fork):
    """alloc, env and txs."""
    chance = random.Random(seed)
    is_osaka = fork in ("Osaka", "BPO1", "BPO2")
    senders = [address_of(secret) for secret in SECRETS]
    targets = ["0x%040x" % (0xC0DE00 + i) for i in range(5)]
    everyone = senders + targets + [COINBASE]
    alloc = {address: {"balance": "0x0", "nonce": "0x1", "code": code} for address, code in CONTRACTS.items()}
    alloc[DEPOSITS] = {"balance": "0x0", "code": "0x36" "5f5f37" "7f" + DEPOSIT_TOPIC + "36" "5f" "a1"}
    for at, sender in enumerate(senders):
        balance = chance.choice([10**22, 10**20, 10**15])
        alloc[sender] = {"balance": hex(balance), "nonce": hex(chance.choice([0, 0, 7]))}
        if chance.random() < 0.15 and fork in DELEGATING:
            alloc[sender]["code"] = "0xef0100" + chance.choice(targets)[2:]
    for target in targets:
        code = Code(chance, everyone, is_osaka).made(chance.randrange(1, 25))
        storage = {"0x%064x" % slot: hex(chance.choice([1, 2, chance.getrandbits(256)])) for slot in chance.sample([0, 1, 2, 31, 32], 2)}
        alloc[target] = {"balance": hex(chance.choice([0, 5, 10**18])), "nonce": "0x1", "code": code, "storage": storage}
    base_fee = chance.choice([7, 10**9, 10**10])
    number = chance.choice([1, 5, 300, 8192])
    hashes = {hex(n): "0x" + keccak256(n.to_bytes(8, "big")).hex() for n in range(max(0, number - 256), number)}
    env = {
        "currentCoinbase": chance.choice([COINBASE, senders[0], "0x" + "00" * 20]),
        "currentGasLimit": hex(chance.choice([30_000_000, 60_000_000, 1_000_000])),
        "currentNumber": hex(number),
        "currentTimestamp": hex(chance.choice([12, 1_800_000_000])),
        "currentRandom": "0x" + chance.randbytes(32).hex(),
        "currentDifficulty": hex(chance.choice([131072, 10**12])),
        "parentBeaconBlockRoot": "0x" + chance.randbytes(32).hex(),
        "blockHashes": hashes,
        "ommers": [],
        "withdrawals": [
            {"index": hex(i), "validatorIndex": hex(i), "address": chance.choice(everyone + ["0x%040x" % chance.getrandbits(160)]),
             "amount": hex(chance.choice([0, 1, 10**9]))}
            for i in range(chance.randrange(4))
        ],
    }
    if chance.random() < 0.5:
        env |= {"currentBaseFee": hex(base_fee), "currentExcessBlobGas": hex(chance.choice([0, 0x20000, 0x4000000]))}
    else:
        env |= {"parentBaseFee": hex(base_fee), "parentGasUsed": hex(chance.choice([0, 15_000_000, 29_000_000])),
                "parentGasLimit": env["currentGasLimit"] if env["currentGasLimit"] != hex(1_000_000) else hex(30_000_000),
                "parentExcessBlobGas": hex(chance.choice([0, 0x20000, 0x2000000])),
                "parentBlobGasUsed": hex(chance.choice([0, 0x20000, 0xC0000]))}
        env["currentGasLimit"] = env["parentGasLimit"]
        base_fee = 2 * base_fee
    nonces = {sender: int(alloc[sender]["nonce"], 16) for sender in senders}
    txs = [transaction(chance, fork, alloc, everyone, senders, targets, nonces, base_fee, is_osaka) for _ in range(chance.randrange(1, 7))]
    return alloc, env, txs


def transaction(chance, fork, alloc, everyone, senders, targets, nonces, base_fee, is_osaka):
    at = chance.randrange(len(SECRETS))
    sender = senders[at]
    kinds = {"Frontier": 1, "Homestead": 1, "SpuriousDragon": 1, "Byzantium": 1, "Istanbul": 1, "Berlin": 2, "London": 3, "Paris": 3, "Shanghai": 3, "Cancun": 4}.get(fork, 5)
    kind = chance.randrange(kinds)
    to = chance.choice(targets * 3 + everyone + ["0x%040x" % chance.randrange(1, 18), "0x%040x" % chance.getrandbits(160)])
    data, value = chance.randbytes(chance.choice([0, 0, 4, 36, 100, 600])), chance.choice([0, 0, 1, 1000])
    special = chance.randrange(12)
    if special == 0 and kind < 3:
        to, data = None, Code(chance, everyone, is_osaka).creation()
    elif special == 1 and kind < 3:
        to, data = None, bytes.fromhex(Code(chance, everyone, is_osaka).made(8)[2:])
    elif special == 2:
        to, data = DEPOSITS, deposit(chance)
    elif special == 3:
        to, length = chance.choice(list(zip(list(CONTRACTS)[2:4], (56, 96))))
        data, value = chance.randbytes(length), chance.choice([0, 1, 10])
    nonce, gas = nonces[sender], chance.choice([200_000, 300_000, 500_000, 900_000])
    fee = base_fee * chance.choice([2, 3, 4])
    # Its fault, mostly none.
    wrong = chance.choice(["nonce", "fee", "gas", "value", "tip", "blobs", "list"]) if chance.random() < 0.2 else None
    if wrong == "nonce":
        nonce += chance.choice([1, -1]) if nonce else 1
    if wrong == "fee":
        fee = base_fee // 8
    if wrong == "gas":
        gas = chance.choice([20_000, 21_000, 30_000, 61_000_000, 17_000_000, 2**24, 2**24 + 1])
    if wrong == "value":
        value = 10**30
    tx = {"type": hex(kind), "chainId": "0x1", "nonce": hex(nonce), "gas": hex(gas), "value": hex(value), "to": to or "",
          "input": "0x" + data.hex(), "secretKey": "0x%064x" % SECRETS[at], "v": "0x0", "r": "0x0", "s": "0x0"}
    if kind < 2:
        tx["gasPrice"] = hex(fee)
    else:
        tx |= {"maxFeePerGas": hex(fee), "maxPriorityFeePerGas": hex(chance.choice([0, 1, fee]) + (fee if wrong == "tip" else 0))}
    if kind > 0:
        keys = lambda: ["0x%064x" % chance.choice([0, 1, 31]) for _ in range(chance.randrange(3))]
        tx["accessList"] = [{"address": chance.choice(everyone), "storageKeys": keys()} for _ in range(chance.randrange(3))]
    if kind == 3:
        counts, known = ([0, 6, 7, 9], [1, 2]) if wrong == "blobs" else ([1, 1, 2, 3], [1])
        versions = [chance.choice(known) for _ in range(chance.choice(counts))]
        tx |= {"maxFeePerBlobGas": hex(1 if wrong == "blobs" else 10**12),
               "blobVersionedHashes": ["0x%02x" % version + chance.randbytes(31).hex() for version in versions]}
    if kind == 4:
        signers = [chance.randrange(len(SECRETS)) for _ in range(0 if wrong == "list" else chance.choice([1, 1, 2, 3]))]
        tx["authorizationList"] = [
            authorization(chance, SECRETS[signer], chance.choice([0, 1, 1, 2]), chance.choice(targets + ["0x" + "00" * 20]),
                          nonces[senders[signer]] + (signer == at) + chance.choice([0, 0, 0, 1]))
            for signer in signers
        ]
    nonces[sender] += not wrong
    return tx
