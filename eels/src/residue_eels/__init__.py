"""EIP-6690 of 2024 and `evmmax-next` as forks of EELS, after Osaka."""
