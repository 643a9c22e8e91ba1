(* Instructions of words and bytes beside those of `Evm.v`: XOR, BYTE, SHL, KECCAK256, MSTORE8, CALLDATACOPY. All else is `Evm.v`.
   Keccak-256 is a function of bytes that nothing is known of but that it gives words. *)
From Coq Require Import ZArith List Bool.
From Residue Require Import Evm.
Import ListNotations.
Open Scope Z_scope.

Inductive byte_instr := XOR | BYTE | SHL | KECCAK256 | MSTORE8 | CALLDATACOPY.

Definition byte_decode (l : list Z) : option byte_instr :=
  match l with
  | 0x18 :: _ => Some XOR
  | 0x1a :: _ => Some BYTE
  | 0x1b :: _ => Some SHL
  | 0x20 :: _ => Some KECCAK256
  | 0x37 :: _ => Some CALLDATACOPY
  | 0x53 :: _ => Some MSTORE8
  | _ => None
  end.

(* Byte i of a word, the most significant first; a shift to the left. *)
Definition byte_at (i a : Z) : Z := if i <? 32 then (a / 256 ^ (31 - i)) mod 256 else 0.
Definition shifted_left (n a : Z) : Z := if n <? 256 then (a * 2 ^ n) mod W else 0.
(* n bytes of calldata from an offset on. *)
Definition cdbytes (cd : list Z) (off n : Z) : list Z := take (Z.to_nat n) (skipn (Z.to_nat off) cd).

Section Keccak.
Variable keccak : list Z -> Z.

Definition byte_exec (cd : list Z) (i : byte_instr) (next : nat) (k : list Z) (m : memory) (mw : Z) : Z * effect :=
  let go := fun k => Go k m mw next in
  match i, k with
  | XOR, a :: b :: r => (3, go (Z.lxor a b :: r))
  | BYTE, i :: a :: r => (3, go (byte_at i a :: r))
  | SHL, n :: a :: r => (3, go (shifted_left n a :: r))
  | KECCAK256, a :: n :: r =>
      let mw' := grown mw a n in
      (30 + 6 * words n + (cmem mw' - cmem mw), Go (keccak (mbytes m a (Z.to_nat n)) :: r) m mw' next)
  | MSTORE8, a :: w :: r =>
      let mw' := grown mw a 1 in (3 + (cmem mw' - cmem mw), Go r (write m a [w mod 256]) mw' next)
  | CALLDATACOPY, a :: b :: n :: r =>
      let mw' := grown mw a n in (3 + 3 * words n + (cmem mw' - cmem mw), Go r (write m a (cdbytes cd b n)) mw' next)
  | _, _ => (0, Bad) (* something below the bottom of the stack *)
  end.

Definition byte_step (code cd : list Z) (s : state) : stepped :=
  match byte_decode (skipn (pc s) code) with
  | None => step code cd s
  | Some i =>
      let '(cost, e) := byte_exec cd i (pc s + 1) (stack s) (mem s) (mwords s) in
      if gas s <? cost then Halt Failed
      else match e with
           | Go k m mw pc => if (1024 <? Z.of_nat (length k)) then Halt Failed else Next (State k m mw pc (gas s - cost))
           | _ => Halt Failed
           end
  end.

Inductive HEval (code cd : list Z) : state -> outcome -> Prop :=
| HEval_halt s o : byte_step code cd s = Halt o -> HEval code cd s o
| HEval_step s s' o : byte_step code cd s = Next s' -> HEval code cd s' o -> HEval code cd s o.
End Keccak.
