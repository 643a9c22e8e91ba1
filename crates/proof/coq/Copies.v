(* Bytes that are written many at a time, and lists of which one place changes: the lemmas that `SoundSlots.v` stands on. *)
From Coq Require Import ZArith List Bool Lia.
From Residue Require Import Evm Words Check Slots CheckSlots.
Import ListNotations.
Open Scope Z_scope.

Lemma take_app n k l : take (n + k) l = take n l ++ take k (skipn n l).
Proof.
  revert l; induction n as [|n IH]; intros l; [reflexivity|].
  destruct l as [|b l]; cbn [Nat.add take skipn app]; f_equal.
  - rewrite IH. rewrite skipn_nil. reflexivity.
  - apply IH.
Qed.

Lemma chunks_bytes n l : Forall is_byte l -> take (32 * n) l = flat_map (bytes_of 32) (pieces 32 n l).
Proof.
  revert l; induction n as [|n IH]; intros l H; [reflexivity|].
  replace (32 * Datatypes.S n)%nat with (32 + 32 * n)%nat by lia. rewrite take_app. cbn [pieces flat_map]. f_equal.
  - pose proof (bytes_of_beZ _ (take_bytes 32 _ H)) as E. rewrite take_length in E. symmetry; exact E.
  - apply IH. apply skipn_Forall; exact H.
Qed.

Lemma chunks_range n l : Forall is_byte l -> Forall (fun v => 0 <= v < W) (pieces 32 n l).
Proof.
  revert l; induction n as [|n IH]; intros l H; cbn [pieces]; constructor; [|apply IH, skipn_Forall; exact H].
  pose proof (beZ_range _ (take_bytes 32 _ H)) as R. rewrite take_length in R. rewrite W_eq. exact R.
Qed.

Lemma upd_length {A} n (x : A) l : length (upd n x l) = length l.
Proof. revert n; induction l as [|y l IH]; intros [|n]; cbn; auto. Qed.

Lemma nth_upd i j v l (d : Z) : (i < length l)%nat -> nth j (upd i v l) d = if Nat.eqb j i then v else nth j l d.
Proof.
  revert i j; induction l as [|y l IH]; intros [|i] [|j] H; cbn in *; try lia; try reflexivity. apply IH. lia.
Qed.

Lemma cdword_is cd off : beZ (take 32 (skipn (Z.to_nat off) cd)) = cdword cd off. Proof. unfold cdword. reflexivity. Qed.

(* ---- a part of a word ---- *)

Lemma mbytes_nth m a n j : (j < n)%nat -> nth j (mbytes m a n) 0 = m (a + Z.of_nat j).
Proof.
  revert a j; induction n as [|n IH]; intros a [|j] H; cbn [mbytes nth]; try lia; [f_equal; lia|].
  rewrite IH by lia. f_equal. lia.
Qed.

Lemma bytes_tail k n w : skipn k (bytes_of (k + n) w) = bytes_of n w.
Proof. induction k as [|k IH]; [reflexivity|]. cbn [Nat.add]. rewrite bytes_of_S. exact IH. Qed.

(* The last bytes of a word. *)
Lemma low_bytes m a (w : nat) : (forall x, is_byte (m x)) -> (w <= 32)%nat ->
  mbytes m (a + (32 - Z.of_nat w)) w = bytes_of w (mload m a).
Proof.
  intros B L. assert (M : mbytes m a (32 - w + w) = bytes_of (32 - w + w) (mload m a)).
  { replace (32 - w + w)%nat with 32%nat by lia. apply mload_bytes; exact B. }
  rewrite <- (bytes_tail (32 - w) w), <- M, mbytes_app, skipn_app, mbytes_length, Nat.sub_diag.
  rewrite skipn_all2 by (rewrite mbytes_length; lia). cbn [skipn app]. f_equal. lia.
Qed.

(* A value at the end of a word that is zero makes that word. *)
Lemma write_narrow m a (w : nat) v : (forall x, is_byte (m x)) -> mload m a = 0 -> (w <= 32)%nat ->
  0 <= v < 256 ^ Z.of_nat w -> forall x, write m (a + (32 - Z.of_nat w)) (bytes_of w v ++ []) x = mstore m a v x.
Proof.
  intros B E L V x. rewrite app_nil_r, mstore_nth. unfold write. rewrite bytes_of_length.
  destruct (Z.leb_spec (a + (32 - Z.of_nat w)) x), (Z.ltb_spec x (a + (32 - Z.of_nat w) + Z.of_nat w)),
    (Z.leb_spec a x), (Z.ltb_spec x (a + 32)); cbn [andb]; try lia; try reflexivity.
  - rewrite !nth_bytes_of by lia. f_equal. f_equal. f_equal. lia.
  - pose proof (mload_bytes m a B) as M. rewrite E in M.
    assert (N : m x = nth (Z.to_nat (x - a)) (mbytes m a 32) 0) by (rewrite mbytes_nth by lia; f_equal; lia).
    rewrite N, M, !nth_bytes_of by lia. rewrite Z.div_0_l by (apply Z.pow_nonzero; lia).
    rewrite (Z.div_small v); [reflexivity|]. split; [lia|]. eapply Z.lt_le_trans; [apply V|].
    apply Z.pow_le_mono_r; lia.
Qed.

(* Bytes that stand in memory already may be written once more. *)
Lemma write_more m a b r : mbytes m (a + Z.of_nat (length b)) (length r) = r ->
  forall x, write m a b x = write m a (b ++ r) x.
Proof.
  intros E x. unfold write. rewrite app_length.
  destruct (Z.leb_spec a x), (Z.ltb_spec x (a + Z.of_nat (length b))),
    (Z.ltb_spec x (a + Z.of_nat (length b + length r))); cbn [andb]; try lia; try reflexivity.
  - rewrite app_nth1 by lia. reflexivity.
  - rewrite app_nth2 by lia. rewrite <- E, mbytes_nth by lia. f_equal. lia.
Qed.
