// The circuit of the key and the proof beside this file, which are those of snarkjs 0.7.5 for w = 7 and summand = 11:
// cube = w³ + summand.
pragma circom 2.0.0;

template Power() {
    signal input w;
    signal input summand;
    signal output cube;
    signal square;
    square <== w * w;
    cube <== square * w + summand;
}

component main {public [summand]} = Power();
