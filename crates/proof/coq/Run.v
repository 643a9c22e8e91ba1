(* Runs that are computed: the semantics as an interpreter, to be compared with other engines on codes and calldata. *)
From Coq Require Import ZArith List Bool.
From Residue Require Import Evm Program.
Import ListNotations.
Open Scope Z_scope.

Fixpoint run_for (steps : nat) (code cd : list Z) (s : state) : outcome :=
  match steps with
  | O => Unknown
  | S n => match step code cd s with Halt o => o | Next s => run_for n code cd s end
  end.

Theorem run_for_ok steps code cd : forall s o, run_for steps code cd s = o -> o <> Unknown -> Eval code cd s o.
Proof.
  induction steps as [|n IH]; intros s o H N; cbn [run_for] in H; [congruence|].
  destruct (step code cd s) as [s'|o'] eqn:E.
  - eapply Eval_step; [exact E | apply IH; assumption].
  - subst o'. apply Eval_halt. exact E.
Qed.

(* An end as another engine has it: None for a failure. *)
Definition ends (o : outcome) (expected : option (list Z)) : bool :=
  match o, expected with
  | Returned b, Some e => if list_eq_dec Z.eq_dec b e then true else false
  | Failed, None => true
  | _, _ => false
  end.

Definition run_agrees (c : list Z * list Z * Z * option (list Z)) : bool :=
  let '(code, cd, gas, expected) := c in ends (run_for 4096 code cd (start gas)) expected.
Definition meaning_agrees (c : program * list Z * option (list Z)) : bool :=
  let '(p, cd, expected) := c in ends (meaning p cd) expected.

(* Numbers of the cases that differ, from 0. *)
Fixpoint differing {A} (agrees : A -> bool) (n : nat) (cases : list A) : list nat :=
  match cases with [] => [] | c :: l => if agrees c then differing agrees (S n) l else n :: differing agrees (S n) l end.
