//! Hard forks by name: the rule set of the EVM under the field instructions, and which opcodes it has.

use core::fmt;
use core::str::FromStr;

use crate::names::UnknownName;
use crate::opcode::evm;

/// A hard fork that changed the EVM; Osaka unless said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Fork {
    /// 2015-07.
    Frontier,
    /// 2016-03.
    Homestead,
    /// 2016-10, EIP-150.
    Tangerine,
    /// 2016-11, EIP-158.
    SpuriousDragon,
    /// 2017-10.
    Byzantium,
    /// 2019-02, with Constantinople.
    Petersburg,
    /// 2019-12.
    Istanbul,
    /// 2021-04.
    Berlin,
    /// 2021-08.
    London,
    /// 2022-09, the merge.
    Paris,
    /// 2023-04.
    Shanghai,
    /// 2024-03.
    Cancun,
    /// 2025-05; the first with the BLS12-381 precompiles (EIP-2537).
    Prague,
    /// 2025-12.
    #[default]
    Osaka,
    /// Not yet on mainnet.
    Amsterdam,
}

impl Fork {
    /// Every fork, oldest first.
    pub const ALL: [Fork; 15] = [
        Fork::Frontier,
        Fork::Homestead,
        Fork::Tangerine,
        Fork::SpuriousDragon,
        Fork::Byzantium,
        Fork::Petersburg,
        Fork::Istanbul,
        Fork::Berlin,
        Fork::London,
        Fork::Paris,
        Fork::Shanghai,
        Fork::Cancun,
        Fork::Prague,
        Fork::Osaka,
        Fork::Amsterdam,
    ];

    /// The name users write, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Fork::Frontier => "frontier",
            Fork::Homestead => "homestead",
            Fork::Tangerine => "tangerine",
            Fork::SpuriousDragon => "spurious-dragon",
            Fork::Byzantium => "byzantium",
            Fork::Petersburg => "petersburg",
            Fork::Istanbul => "istanbul",
            Fork::Berlin => "berlin",
            Fork::London => "london",
            Fork::Paris => "paris",
            Fork::Shanghai => "shanghai",
            Fork::Cancun => "cancun",
            Fork::Prague => "prague",
            Fork::Osaka => "osaka",
            Fork::Amsterdam => "amsterdam",
        }
    }
}

impl Fork {
    /// True if the fork has the EVM's opcode of this byte.
    pub fn has(self, opcode: u8) -> bool {
        evm().iter().any(|row| row.byte == opcode && row.since <= self)
    }
}

impl fmt::Display for Fork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Fork {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.into_iter().find(|fork| fork.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            UnknownName::new("hard fork", name, Self::ALL.map(Self::name)).listed_by("residue list forks")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back_and_unknown_ones_get_the_nearest() {
        for fork in Fork::ALL {
            assert_eq!(fork.name().parse(), Ok(fork));
        }
        assert_eq!("Osaka".parse(), Ok(Fork::default()));
        let error = "osaca".parse::<Fork>().unwrap_err().to_string();
        assert!(error.starts_with("unknown hard fork \"osaca\"; did you mean osaka"), "{error}");
        assert!(error.ends_with("`residue list forks` lists them all"), "{error}");
    }

    #[test]
    fn opcodes_come_with_their_forks() {
        for (name, first) in [
            ("ADD", Fork::Frontier),
            ("STATICCALL", Fork::Byzantium),
            ("SHR", Fork::Petersburg),
            ("PUSH0", Fork::Shanghai),
            ("MCOPY", Fork::Cancun),
            ("CLZ", Fork::Osaka),
        ] {
            let row = evm().iter().find(|row| row.mnemonic == name).unwrap();
            for fork in Fork::ALL {
                assert_eq!(fork.has(row.byte), fork >= first, "{name} {fork}");
            }
        }
        assert!(!Fork::Amsterdam.has(0xef));
    }
}
