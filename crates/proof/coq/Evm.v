(* A literal semantics of the part of the EVM that code without field instructions uses here: bytes are fetched at a
   program counter, words are integers in [0, 2^256), memory is bytes, gas is counted with the growth of memory. *)
From Coq Require Import ZArith List Bool.
Import ListNotations.
Open Scope Z_scope.

Definition W : Z := 2 ^ 256.

(* ---- bytes ---- *)

Fixpoint be_acc (acc : Z) (l : list Z) : Z :=
  match l with [] => acc | b :: r => be_acc (acc * 256 + b) r end.
Definition beZ (l : list Z) : Z := be_acc 0 l.

(* The first n bytes, zeros past the end. *)
Fixpoint take (n : nat) (l : list Z) : list Z :=
  match n with
  | O => []
  | S n => match l with [] => 0 :: take n [] | b :: r => b :: take n r end
  end.

(* The n bytes of a number, the most significant first. *)
Fixpoint bytes_of (n : nat) (w : Z) : list Z :=
  match n with O => [] | S n => bytes_of n (w / 256) ++ [w mod 256] end.

(* The same by shifts, which are quick: code is written as numbers of 32 bytes. *)
Fixpoint row_acc (n : nat) (w : Z) (acc : list Z) : list Z :=
  match n with O => acc | S n => row_acc n (Z.shiftr w 8) (Z.land w 255 :: acc) end.
Definition code_of (bytes : Z) (rows : list Z) : list Z :=
  firstn (Z.to_nat bytes) (flat_map (fun w => row_acc 32 w []) rows).

(* ---- memory ---- *)

Definition memory := Z -> Z.
Fixpoint mbytes (m : memory) (a : Z) (n : nat) : list Z :=
  match n with O => [] | S n => m a :: mbytes m (a + 1) n end.
Definition mload (m : memory) (a : Z) : Z := beZ (mbytes m a 32).
Definition mstore (m : memory) (a w : Z) : memory :=
  fun x => if (a <=? x) && (x <? a + 32) then (w / 256 ^ (31 - (x - a))) mod 256 else m x.

(* Bytes from an address on, and numbers of so many bytes each. *)
Definition write (m : memory) (a : Z) (l : list Z) : memory :=
  fun x => if (a <=? x) && (x <? a + Z.of_nat (length l)) then nth (Z.to_nat (x - a)) l 0 else m x.
Fixpoint numbers (m : memory) (a size : Z) (n : nat) : list Z :=
  match n with O => [] | S n => beZ (mbytes m a (Z.to_nat size)) :: numbers m (a + size) size n end.
(* n bytes in another place, all read before one is written. *)
Definition mcopy (m : memory) (to from n : Z) : memory := write m to (mbytes m from (Z.to_nat n)).

Definition words (bytes : Z) : Z := (bytes + 31) / 32.
Definition cmem (n : Z) : Z := 3 * n + n * n / 512.

(* ---- calldata ---- *)

Definition cdword (cd : list Z) (off : Z) : Z := beZ (take 32 (skipn (Z.to_nat off) cd)).
(* The same of n bytes. *)
Definition cdnumber (cd : list Z) (off n : Z) : Z := beZ (take (Z.to_nat n) (skipn (Z.to_nat off) cd)).

(* ---- instructions ---- *)

Inductive instr :=
| PUSH (n : nat) (v : Z) | DUP (n : nat) | SWAP (n : nat) | POP
| ADD | MUL | SUB | DIV | MOD | ADDMOD | MULMOD | LT | GT | EQ | ISZERO | NOT | AND | OR | SHR
| CALLDATALOAD | CALLDATASIZE | MLOAD | MSTORE | MCOPY | JUMP | JUMPI | JUMPDEST | RETURN | INVALID
| OTHER. (* this semantics says nothing of it *)

Definition simple (b : Z) : instr :=
  match b with
  | 0x01 => ADD | 0x02 => MUL | 0x03 => SUB | 0x04 => DIV | 0x06 => MOD | 0x08 => ADDMOD | 0x09 => MULMOD
  | 0x10 => LT | 0x11 => GT | 0x14 => EQ | 0x15 => ISZERO | 0x19 => NOT | 0x16 => AND | 0x17 => OR | 0x1c => SHR
  | 0x35 => CALLDATALOAD | 0x36 => CALLDATASIZE
  | 0x50 => POP | 0x51 => MLOAD | 0x52 => MSTORE | 0x56 => JUMP | 0x57 => JUMPI | 0x5b => JUMPDEST | 0x5e => MCOPY
  | 0xf3 => RETURN | 0xfe => INVALID
  | _ => OTHER
  end.

(* The instruction that bytes begin with, and its length. *)
Definition decode (l : list Z) : instr * nat :=
  match l with
  | [] => (OTHER, 1%nat)
  | b :: r =>
      if (0x5f <=? b) && (b <=? 0x7f) then
        let n := Z.to_nat (b - 0x5f) in (PUSH n (beZ (take n r)), S n)
      else if (0x80 <=? b) && (b <=? 0x8f) then (DUP (Z.to_nat (b - 0x80)), 1%nat)
      else if (0x90 <=? b) && (b <=? 0x9f) then (SWAP (Z.to_nat (b - 0x90)), 1%nat)
      else (simple b, 1%nat)
  end.

(* True for the offset of a JUMPDEST that is no immediate byte: one scan from the start. *)
Fixpoint scan (skip : nat) (at_ : Z) (l : list Z) (d : Z) : bool :=
  match l with
  | [] => false
  | b :: r =>
      match skip with
      | S k => scan k (at_ + 1) r d
      | O => if at_ =? d then b =? 0x5b
             else scan (if (0x60 <=? b) && (b <=? 0x7f) then Z.to_nat (b - 0x5f) else O) (at_ + 1) r d
      end
  end.
Definition valid (code : list Z) (d : Z) : bool := scan O 0 code d.

Fixpoint upd {A} (n : nat) (x : A) (l : list A) : list A :=
  match l, n with
  | [], _ => []
  | _ :: r, O => x :: r
  | y :: r, S n => y :: upd n x r
  end.

Definition b2z (b : bool) : Z := if b then 1 else 0.

(* Effect of an instruction: the machine goes on, or ends. *)
Inductive effect :=
| Go (stack : list Z) (mem : memory) (mwords : Z) (pc : nat)
| Ret (bytes : list Z)
| Bad
| Unmodelled.

Definition grown (mw a n : Z) : Z := if n =? 0 then mw else Z.max mw (words (a + n)).

(* Gas, and the effect. *)
Definition exec (code cd : list Z) (i : instr) (next : nat) (k : list Z) (m : memory) (mw : Z) : Z * effect :=
  let go := fun k => Go k m mw next in
  match i, k with
  | PUSH n v, _ => (if n then 2 else 3, go (v :: k))
  | DUP n, _ => (3, match nth_error k n with Some x => go (x :: k) | None => Bad end)
  | SWAP n, x :: r => (3, match nth_error r n with Some y => go (y :: upd n x r) | None => Bad end)
  | POP, _ :: r => (2, go r)
  | ADD, a :: b :: r => (3, go ((a + b) mod W :: r))
  | MUL, a :: b :: r => (5, go ((a * b) mod W :: r))
  | SUB, a :: b :: r => (3, go ((a - b) mod W :: r))
  | DIV, a :: b :: r => (5, go ((if b =? 0 then 0 else a / b) :: r))
  | MOD, a :: b :: r => (5, go ((if b =? 0 then 0 else a mod b) :: r))
  | ADDMOD, a :: b :: c :: r => (8, go ((if c =? 0 then 0 else (a + b) mod c) :: r))
  | MULMOD, a :: b :: c :: r => (8, go ((if c =? 0 then 0 else (a * b) mod c) :: r))
  | LT, a :: b :: r => (3, go (b2z (a <? b) :: r))
  | GT, a :: b :: r => (3, go (b2z (b <? a) :: r))
  | EQ, a :: b :: r => (3, go (b2z (a =? b) :: r))
  | ISZERO, a :: r => (3, go (b2z (a =? 0) :: r))
  | NOT, a :: r => (3, go (W - 1 - a :: r))
  | AND, a :: b :: r => (3, go (Z.land a b :: r))
  | OR, a :: b :: r => (3, go (Z.lor a b :: r))
  | SHR, n :: a :: r => (3, go ((if n <? 256 then Z.shiftr a n else 0) :: r))
  | CALLDATALOAD, a :: r => (3, go (cdword cd a :: r))
  | CALLDATASIZE, _ => (2, go (Z.of_nat (length cd) :: k))
  | MLOAD, a :: r =>
      let mw' := grown mw a 32 in (3 + (cmem mw' - cmem mw), Go (mload m a :: r) m mw' next)
  | MSTORE, a :: w :: r =>
      let mw' := grown mw a 32 in (3 + (cmem mw' - cmem mw), Go r (mstore m a w) mw' next)
  | MCOPY, a :: b :: n :: r =>
      let mw' := grown (grown mw a n) b n in (3 + 3 * words n + (cmem mw' - cmem mw), Go r (mcopy m a b n) mw' next)
  | JUMP, d :: r => (8, if valid code d then Go r m mw (Z.to_nat d) else Bad)
  | JUMPI, d :: c :: r =>
      (10, if c =? 0 then go r else if valid code d then Go r m mw (Z.to_nat d) else Bad)
  | JUMPDEST, _ => (1, go k)
  | RETURN, a :: n :: _ => (cmem (grown mw a n) - cmem mw, Ret (mbytes m a (Z.to_nat n)))
  | INVALID, _ => (0, Bad)
  | OTHER, _ => (0, Unmodelled)
  | _, _ => (0, Bad) (* something below the bottom of the stack *)
  end.

Record state := State { stack : list Z; mem : memory; mwords : Z; pc : nat; gas : Z }.

(* Failed is any exceptional end: all gas is gone and nothing is returned. *)
Inductive outcome := Returned (bytes : list Z) | Failed | Unknown.
Inductive stepped := Next (s : state) | Halt (o : outcome).

Definition step (code cd : list Z) (s : state) : stepped :=
  let '(i, n) := decode (skipn (pc s) code) in
  let '(cost, e) := exec code cd i (pc s + n) (stack s) (mem s) (mwords s) in
  match e with
  | Unmodelled => Halt Unknown
  | _ =>
    if gas s <? cost then Halt Failed
    else match e with
         | Go k m mw pc => if (1024 <? Z.of_nat (length k)) then Halt Failed else Next (State k m mw pc (gas s - cost))
         | Ret b => Halt (Returned b)
         | Bad => Halt Failed
         | Unmodelled => Halt Unknown
         end
  end.

Inductive Eval (code cd : list Z) : state -> outcome -> Prop :=
| Eval_halt s o : step code cd s = Halt o -> Eval code cd s o
| Eval_step s s' o : step code cd s = Next s' -> Eval code cd s' o -> Eval code cd s o.

Definition start (g : Z) : state := State [] (fun _ => 0) 0 0 g.
