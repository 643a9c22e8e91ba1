//go:build purego

package main

// isAssembly: gnark-crypto multiplies in unrolled Go.
const isAssembly = false
