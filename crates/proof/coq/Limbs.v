(* Numbers that memory and calldata have by limbs of 8 bytes: the lemmas that `SoundWide.v` stands on. *)
From Coq Require Import ZArith List Bool Lia.
From Residue Require Import Evm Words Check Slots CheckSlots Copies.
Import ListNotations.
Open Scope Z_scope.

Lemma beZ_cat l r : beZ (l ++ r) = beZ l * 256 ^ Z.of_nat (length r) + beZ r.
Proof.
  induction r as [|b r IH] using rev_ind; [rewrite app_nil_r; cbn; lia|].
  rewrite app_assoc, !beZ_app, IH, app_length. cbn [length]. rewrite Nat.add_1_r, pow256_S. ring.
Qed.

Lemma cdnumber_cat cd off a b : 0 <= off -> 0 <= a -> 0 <= b ->
  cdnumber cd off (a + b) = cdnumber cd off a * 256 ^ b + cdnumber cd (off + a) b.
Proof.
  intros O A B. unfold cdnumber. rewrite Z2Nat.inj_add, take_app, beZ_cat, take_length, skipn_skipn', Z2Nat.id by lia.
  rewrite (Z2Nat.inj_add off a) by lia. reflexivity.
Qed.

Lemma bytes_of_cat n k w : bytes_of (n + k) w = bytes_of n (w / 256 ^ Z.of_nat k) ++ bytes_of k w.
Proof.
  induction n as [|n IH]; [reflexivity|]. cbn [Nat.add]. rewrite !bytes_of_S, IH. cbn [app]. do 2 f_equal.
  rewrite Z.div_div by (try apply Z.pow_nonzero; try apply pow256_pos; lia). f_equal. rewrite Nat2Z.inj_add, Z.pow_add_r by lia. ring.
Qed.

Lemma bytes_of_bytes n w : Forall is_byte (bytes_of n w).
Proof.
  revert w; induction n as [|n IH]; intros w; cbn [bytes_of]; [constructor|]. apply Forall_app. split; [apply IH|].
  constructor; [|constructor]. apply Z.mod_pos_bound. lia.
Qed.

Lemma bytes_of_mod n w : bytes_of n (w mod 256 ^ Z.of_nat n) = bytes_of n w.
Proof.
  rewrite <- beZ_bytes_of. pose proof (bytes_of_beZ _ (bytes_of_bytes n w)) as E. rewrite bytes_of_length in E. exact E.
Qed.

Lemma write_cat m a l r x : write m a (l ++ r) x = write (write m a l) (a + Z.of_nat (length l)) r x.
Proof.
  unfold write. rewrite app_length, Nat2Z.inj_add.
  destruct (Z.leb_spec a x), (Z.ltb_spec x (a + (Z.of_nat (length l) + Z.of_nat (length r)))),
    (Z.leb_spec (a + Z.of_nat (length l)) x), (Z.ltb_spec x (a + Z.of_nat (length l) + Z.of_nat (length r))),
    (Z.ltb_spec x (a + Z.of_nat (length l))); cbn [andb]; try lia; try reflexivity.
  - rewrite app_nth2 by lia. f_equal. lia.
  - rewrite app_nth1 by lia. reflexivity.
Qed.

Lemma pieces_bytes size n l : Forall is_byte l -> take (size * n) l = flat_map (bytes_of size) (pieces size n l).
Proof.
  revert l; induction n as [|n IH]; intros l H; [rewrite Nat.mul_0_r; reflexivity|].
  rewrite Nat.mul_succ_r, Nat.add_comm, take_app. cbn [pieces flat_map]. f_equal.
  - pose proof (bytes_of_beZ _ (take_bytes size _ H)) as E. rewrite take_length in E. symmetry; exact E.
  - apply IH. apply skipn_Forall; exact H.
Qed.

Lemma limb_pow k : 256 ^ Z.of_nat (8 * k) = 2 ^ (64 * Z.of_nat k).
Proof. change 256 with (2 ^ 8). rewrite <- Z.pow_mul_r by lia. f_equal. lia. Qed.

(* The number that limbs are, the highest first. *)
Fixpoint whole_number (l : list Z) : Z :=
  match l with [] => 0 | v :: l => v * 2 ^ (64 * Z.of_nat (length l)) + whole_number l end.

Lemma numbers_length m a size n : length (numbers m a size n) = n.
Proof. revert a; induction n; intros a; cbn; congruence. Qed.

Lemma mbytes_number m n : forall a, beZ (mbytes m a (8 * n)) = whole_number (numbers m a 8 n).
Proof.
  induction n as [|n IH]; intros a; [reflexivity|].
  replace (8 * Datatypes.S n)%nat with (8 + 8 * n)%nat by lia. rewrite mbytes_app, beZ_cat, mbytes_length, limb_pow.
  cbn [numbers whole_number]. rewrite numbers_length. change (Z.to_nat 8) with 8%nat. change (Z.of_nat 8) with 8. rewrite IH. reflexivity.
Qed.

Lemma mbytes_limbs m n : (forall x, is_byte (m x)) -> forall a, mbytes m a (8 * n) = flat_map (bytes_of 8) (numbers m a 8 n).
Proof.
  intros H. induction n as [|n IH]; intros a; [reflexivity|].
  replace (8 * Datatypes.S n)%nat with (8 + 8 * n)%nat by lia. rewrite mbytes_app. cbn [numbers flat_map].
  change (Z.to_nat 8) with 8%nat. change (Z.of_nat 8) with 8. rewrite IH. f_equal.
  pose proof (bytes_of_beZ _ (mbytes_bytes m a 8 H)) as E. rewrite mbytes_length in E. symmetry; exact E.
Qed.

(* A number of so many limbs, written. *)
Fixpoint limbs_of (n : nat) (v : Z) : list Z :=
  match n with O => [] | Datatypes.S n => (Z.shiftr v (64 * Z.of_nat n)) mod 2 ^ 64 :: limbs_of n v end.

Lemma limbs_of_bytes n v : bytes_of (8 * n) v = flat_map (bytes_of 8) (limbs_of n v).
Proof.
  induction n as [|n IH]; [reflexivity|]. replace (8 * Datatypes.S n)%nat with (8 + 8 * n)%nat by lia.
  rewrite bytes_of_cat, limb_pow. cbn [limbs_of flat_map]. rewrite IH. f_equal.
  rewrite Z.shiftr_div_pow2 by lia. change (2 ^ 64) with (256 ^ Z.of_nat 8). symmetry. apply bytes_of_mod.
Qed.

(* 64 bits of a number above others. *)
Lemma limb_above u n : 0 <= n ->
  (Z.shiftr u n mod 2 ^ 64) * 2 ^ n + u mod 2 ^ n = u mod 2 ^ (64 + n).
Proof.
  intros N. assert (0 < 2 ^ n) by (apply Z.pow_pos_nonneg; lia).
  rewrite Z.add_comm, (Z.add_comm 64), Z.pow_add_r, Z.rem_mul_r, Z.shiftr_div_pow2 by lia. ring.
Qed.
