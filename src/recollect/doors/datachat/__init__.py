"""The data chat door: questions over data that know what was asked before, after the contract of `/memoryChat`."""
