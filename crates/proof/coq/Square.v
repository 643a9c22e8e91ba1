(* x² + x modulo BN254's r: a theorem of code with slots that `residue build` made of a small program. *)
From Coq Require Import ZArith List.
From Residue Require Import Evm Words Program Check Slots CheckSlots SoundSlots.
Import ListNotations.
Open Scope Z_scope.

Definition square : program :=
  Program 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001 32 [(2%positive, 0)]
    [Op 3 KMul (V 2) (V 2); Op 4 KAdd (V 3) (V 2)] [4]%positive.

Definition code : list Z := code_of 129
  [0x604060415f39600460205f5fc0600160206003c26020361415603f5760205f5f;
   0x3760015f5fc2c501010001000101c30001010100010160015f5fc160205ff35b;
   0xfe30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f00000;
   0x0100000000000000000000000000000000000000000000000000000000000000;
   0x0000000000000000000000000000000000000000000000000000000000000000].

Lemma accepted : check_slots false square (Witness [3]%positive []) code = Some 155.
Proof. vm_cast_no_check (eq_refl (Some 155)). Qed.

Theorem right : forall calldata, Forall is_byte calldata -> Z.of_nat (length calldata) < W ->
  forall g, 155 <= g -> FEval false code calldata (start g) none (meaning square calldata).
Proof. exact (check_slots_sound _ _ _ _ _ accepted). Qed.
Print Assumptions right.
