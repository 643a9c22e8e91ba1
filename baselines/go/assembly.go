//go:build !purego

package main

// isAssembly: gnark-crypto multiplies in assembly where the processor has any.
const isAssembly = true
