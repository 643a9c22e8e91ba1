(* Programs of requirements, parses and one block of field operations, and their meaning.
   A value is a positive number; value 1 is the number 1. *)
From Coq Require Import ZArith List Bool.
From Residue Require Import Evm.
Import ListNotations.
Open Scope Z_scope.

(* Arithmetic, comparisons and bits of two words, as instructions have them. *)
Definition bin (i : instr) (a b : Z) : Z :=
  match i with
  | ADD => (a + b) mod W | SUB => (a - b) mod W | MUL => (a * b) mod W
  | DIV => if b =? 0 then 0 else a / b | MOD => if b =? 0 then 0 else a mod b
  | LT => b2z (a <? b) | GT => b2z (b <? a) | EQ => b2z (a =? b) | AND => Z.land a b | OR => Z.lor a b
  | SHR => if a <? 256 then Z.shiftr b a else 0
  | _ => 0
  end.

Inductive operand := V (i : positive) | C (c : Z).
Inductive kind := KAdd | KSub | KMul.
Record op := Op { out : positive; what : kind; left : operand; right : operand }.
Record program := Program {
  modulus : Z;
  size : Z;                        (* require: so many bytes of calldata *)
  parses : list (positive * Z);    (* parse: 32 bytes from an offset, below the modulus *)
  ops : list op;
  results : list positive          (* return_elements, 32 bytes each *)
}.

Definition env := positive -> Z.
Definition set (e : env) (i : positive) (v : Z) : env := fun j => if Pos.eqb j i then v else e j.
Definition read (e : env) (x : operand) : Z := match x with V i => e i | C c => c end.
Definition field_op (p : Z) (k : kind) (a b : Z) : Z :=
  match k with KAdd => (a + b) mod p | KSub => (a - b) mod p | KMul => (a * b) mod p end.
Definition eval_op (p : Z) (e : env) (o : op) : env := set e (out o) (field_op p (what o) (read e (left o)) (read e (right o))).
Definition eval_ops (p : Z) (l : list op) (e : env) : env := fold_left (eval_op p) l e.
Definition eval_parses (cd : list Z) (l : list (positive * Z)) (e : env) : env :=
  fold_left (fun e '(i, off) => set e i (cdword cd off)) l e.

(* Value 1 is the number 1: sums have their constants as multiples of it. *)
Definition first (P : program) (cd : list Z) : env := eval_parses cd (parses P) (fun i => if Pos.eqb i 1 then 1 else 0).
Definition final (P : program) (cd : list Z) : env := eval_ops (modulus P) (ops P) (first P cd).

Definition meaning (P : program) (cd : list Z) : outcome :=
  if (Z.of_nat (length cd) =? size P) && forallb (fun '(_, off) => cdword cd off <? modulus P) (parses P)
  then Returned (concat (map (fun i => bytes_of 32 (final P cd i)) (results P)))
  else Failed.
