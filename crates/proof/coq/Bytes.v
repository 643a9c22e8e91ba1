(* Programs of words and scratch memory, with branches, loops and countdowns, and their meaning. A word is a positive number; variables are words that are
   bound again. *)
From Coq Require Import ZArith List Bool.
From Residue Require Import Evm Program Hashing.
Import ListNotations.
Open Scope Z_scope.

Inductive fn := FAdd | FSub | FMul | FDiv | FMod | FLt | FEq | FAnd | FOr | FXor | FShl | FShr | FByte | FAddMod | FMulMod.

(* Operands as instructions have them: of shifts the number of bits first, of `byte` the number of the byte. *)
Definition apply (f : fn) (a b c : Z) : Z :=
  match f with
  | FAdd => (a + b) mod W | FSub => (a - b) mod W | FMul => (a * b) mod W
  | FDiv => if b =? 0 then 0 else a / b | FMod => if b =? 0 then 0 else a mod b
  | FLt => b2z (a <? b) | FEq => b2z (a =? b)
  | FAnd => Z.land a b | FOr => Z.lor a b | FXor => Z.lxor a b
  | FShl => shifted_left a b | FShr => if a <? 256 then Z.shiftr b a else 0 | FByte => byte_at a b
  | FAddMod => if c =? 0 then 0 else (a + b) mod c | FMulMod => if c =? 0 then 0 else (a * b) mod c
  end.

Inductive expr :=
| ENum (n : Z) | ESize
| ECalldata (off : expr)                  (* 32 bytes *)
| EScratch (off : expr)                   (* 32 bytes of scratch memory, as they are where the statement is done *)
| EWord (w : positive)
| EOp (f : fn) (a b c : expr).            (* c is read by FAddMod and FMulMod *)

(* Statements, each with what comes after it. *)
Inductive body :=
| Done
| Bind (w : positive) (x : expr) (k : body)
| Scratch (bytes : Z) (k : body)                       (* at least so many bytes *)
| SetScratch (off x : expr) (k : body)                 (* 32 bytes *)
| SetByte (off x : expr) (k : body)                    (* the last byte of a word *)
| Copy (to off bytes : expr) (k : body)                (* of calldata *)
| Hash (w : positive) (off bytes : expr) (k : body)
| Need (x : expr) (k : body)
| Branch (x : expr) (t u k : body)                     (* t where the word is not zero *)
| Countdown (w : positive) (turns : Z) (t k : body)    (* t: a Turn for each number, the greatest first *)
| Turn (w : positive) (number : Z) (t k : body)        (* t where the word is the number or more *)
| Repeat (w : positive) (turns : expr) (t k : body)    (* t for each number below that of the turns, the least first *)
| ReturnWords (l : list expr)
| ReturnScratch (off bytes : expr).

(* Words, scratch memory and its bytes; turns that may still be taken of loops whose number of turns is no number. *)
Record bytes_state := Bs { bw : env; bm : memory; bn : Z; bt : Z }.

Definition charge (turns : expr) : Z := match turns with ENum _ => 0 | _ => 1 end.
(* As many turns, each with its number; None where too few may still be taken. *)
Fixpoint loop (c : Z) (turn : bytes_state -> bytes_state + option outcome) (w : positive) (i : Z) (n : nat) (s : bytes_state)
  : bytes_state + option outcome :=
  match n with
  | O => inl s
  | S n =>
      if bt s <? c then inr None
      else match turn (Bs (set (bw s) w i) (bm s) (bn s) (bt s - c)) with inl s => loop c turn w (i + 1) n s | inr o => inr o end
  end.

Section Keccak.
Variable keccak : list Z -> Z.
Variable cd : list Z.

Definition inside (n off size : Z) : bool := (0 <=? off) && (0 <=? size) && (off + size <=? n).

(* None: a read of scratch memory beyond its end. *)
Fixpoint value (s : bytes_state) (x : expr) : option Z :=
  match x with
  | ENum n => Some n
  | ESize => Some (Z.of_nat (length cd))
  | ECalldata x => option_map (cdword cd) (value s x)
  | EScratch x =>
      match value s x with Some a => if inside (bn s) a 32 then Some (mload (bm s) a) else None | None => None end
  | EWord w => Some (bw s w)
  | EOp f a b c =>
      match value s a, value s b, value s c with Some a, Some b, Some c => Some (apply f a b c) | _, _, _ => None end
  end.

Fixpoint all_values (s : bytes_state) (l : list expr) : option (list Z) :=
  match l with
  | [] => Some []
  | x :: l => match value s x, all_values s l with Some v, Some l => Some (v :: l) | _, _ => None end
  end.

Definition bound (s : bytes_state) (w : positive) (v : Z) : bytes_state := Bs (set (bw s) w v) (bm s) (bn s) (bt s).
(* Bytes that are written; None where they have no place. *)
Definition written (s : bytes_state) (a : Z) (l : list Z) : option bytes_state :=
  if inside (bn s) a (Z.of_nat (length l)) then Some (Bs (bw s) (write (bm s) a l) (bn s) (bt s)) else None.

(* The state after it, or the end of the program: Unknown where the program has no outcome, None where it asks for more turns. *)
Fixpoint bytes_mean (b : body) (s : bytes_state) : bytes_state + option outcome :=
  match b with
  | Done => inl s
  | Bind w x k => match value s x with Some v => bytes_mean k (bound s w v) | None => inr (Some Unknown) end
  | Scratch n k => bytes_mean k (Bs (bw s) (bm s) (Z.max (bn s) n) (bt s))
  | SetScratch a x k =>
      match value s a, value s x with
      | Some a, Some v => match written s a (bytes_of 32 v) with Some s => bytes_mean k s | None => inr (Some Unknown) end
      | _, _ => inr (Some Unknown)
      end
  | SetByte a x k =>
      match value s a, value s x with
      | Some a, Some v => match written s a [v mod 256] with Some s => bytes_mean k s | None => inr (Some Unknown) end
      | _, _ => inr (Some Unknown)
      end
  | Copy a b n k =>
      match value s a, value s b, value s n with
      | Some a, Some b, Some n =>
          if inside (bn s) a n then
            match written s a (cdbytes cd b n) with Some s => bytes_mean k s | None => inr (Some Unknown) end
          else inr (Some Unknown)
      | _, _, _ => inr (Some Unknown)
      end
  | Hash w a n k =>
      match value s a, value s n with
      | Some a, Some n =>
          if inside (bn s) a n then bytes_mean k (bound s w (keccak (mbytes (bm s) a (Z.to_nat n)))) else inr (Some Unknown)
      | _, _ => inr (Some Unknown)
      end
  | Need x k =>
      match value s x with Some v => if v =? 0 then inr (Some Failed) else bytes_mean k s | None => inr (Some Unknown) end
  | Branch x t u k =>
      match value s x with
      | Some v =>
          match (if v =? 0 then bytes_mean u s else bytes_mean t s) with
          | inl s => bytes_mean k s
          | inr o => inr o
          end
      | None => inr (Some Unknown)
      end
  | Countdown w n t k =>
      if bw s w <=? n then match bytes_mean t s with inl s => bytes_mean k s | inr o => inr o end else inr (Some Unknown)
  | Turn w j t k =>
      match (if j <=? bw s w then bytes_mean t s else inl s) with inl s => bytes_mean k s | inr o => inr o end
  | Repeat w n t k =>
      match value s n with
      | Some v => match loop (charge n) (bytes_mean t) w 0 (Z.to_nat v) s with inl s => bytes_mean k s | inr o => inr o end
      | None => inr (Some Unknown)
      end
  | ReturnWords l => inr (Some match all_values s l with Some l => Returned (flat_map (bytes_of 32) l) | None => Unknown end)
  | ReturnScratch a n =>
      inr (Some match value s a, value s n with
          | Some a, Some n => if inside (bn s) a n then Returned (mbytes (bm s) a (Z.to_nat n)) else Unknown
          | _, _ => Unknown
          end)
  end.

(* The outcome, if the program takes no more turns of this kind. A program without a return at its end has none. *)
Definition bytes_meaning_in (turns : Z) (b : body) : option outcome :=
  match bytes_mean b (Bs (fun _ => 0) (fun _ => 0) 0 turns) with inl _ => Some Unknown | inr o => o end.
(* That of a program whose loops all have numbers of turns, and which so has one. *)
Definition bytes_meaning (b : body) : outcome := match bytes_meaning_in 0 b with Some o => o | None => Unknown end.
End Keccak.

Fixpoint is_closed (b : body) : bool :=
  match b with
  | Done | ReturnWords _ | ReturnScratch _ _ => true
  | Bind _ _ k | Scratch _ k | SetScratch _ _ k | SetByte _ _ k | Copy _ _ _ k | Hash _ _ _ k | Need _ k => is_closed k
  | Branch _ t u k => is_closed t && is_closed u && is_closed k
  | Countdown _ _ t k | Turn _ _ t k => is_closed t && is_closed k
  | Repeat _ n t k => (charge n =? 0) && is_closed t && is_closed k
  end.
