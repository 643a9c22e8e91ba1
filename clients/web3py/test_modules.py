"""The tests themselves are in web3.py's wheel."""

from web3._utils.module_testing import EthModuleTest, NetModuleTest, Web3ModuleTest


class TestEth(EthModuleTest):
    pass


class TestNet(NetModuleTest):
    pass


class TestWeb3(Web3ModuleTest):
    def _check_web3_client_version(self, client_version):
        assert client_version
