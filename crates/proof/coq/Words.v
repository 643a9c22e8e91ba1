(* Facts of bytes and memory. *)
From Coq Require Import ZArith List Bool Lia.
From Residue Require Import Evm.
Import ListNotations.
Open Scope Z_scope.

Lemma W_eq : W = 256 ^ 32. Proof. reflexivity. Qed.
Lemma W_pos : 0 < W. Proof. reflexivity. Qed.

Definition is_byte (b : Z) : Prop := 0 <= b < 256.

Lemma be_acc_app acc l b : be_acc acc (l ++ [b]) = be_acc acc l * 256 + b.
Proof. revert acc; induction l as [|c l IH]; intros acc; cbn; [reflexivity | apply IH]. Qed.

Lemma beZ_app l b : beZ (l ++ [b]) = beZ l * 256 + b.
Proof. apply be_acc_app. Qed.

Lemma pow256_S n : 256 ^ Z.of_nat (S n) = 256 * 256 ^ Z.of_nat n.
Proof. rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia. reflexivity. Qed.

Lemma pow256_pos n : 0 < 256 ^ Z.of_nat n.
Proof. apply Z.pow_pos_nonneg; lia. Qed.

Lemma beZ_range l : Forall is_byte l -> 0 <= beZ l < 256 ^ Z.of_nat (length l).
Proof.
  induction l as [|b l IH] using rev_ind; intros H; [cbn; lia|].
  apply Forall_app in H as [Hl Hb]. inversion Hb as [|? ? Hb' _]; subst. specialize (IH Hl).
  rewrite beZ_app, app_length; cbn [length]. replace (length l + 1)%nat with (S (length l)) by lia.
  rewrite pow256_S. unfold is_byte in Hb'. lia.
Qed.

Lemma bytes_of_length n w : length (bytes_of n w) = n.
Proof. revert w; induction n; intros w; cbn; [reflexivity|]. rewrite app_length, IHn; cbn; lia. Qed.

Lemma bytes_of_S n w : bytes_of (S n) w = (w / 256 ^ Z.of_nat n) mod 256 :: bytes_of n w.
Proof.
  revert w; induction n as [|n IH]; intros w.
  - cbn. rewrite Z.div_1_r. reflexivity.
  - change (bytes_of (S (S n)) w) with (bytes_of (S n) (w / 256) ++ [w mod 256]).
    rewrite IH. cbn [app].
    rewrite Z.div_div by (try lia; apply pow256_pos). rewrite <- pow256_S. reflexivity.
Qed.

Lemma beZ_bytes_of n w : beZ (bytes_of n w) = w mod 256 ^ Z.of_nat n.
Proof.
  revert w; induction n as [|n IH]; intros w.
  - cbn. rewrite Z.mod_1_r. reflexivity.
  - cbn [bytes_of]. rewrite beZ_app, IH, pow256_S.
    pose proof (pow256_pos n). rewrite (Z.rem_mul_r w 256) by lia. lia.
Qed.

Lemma bytes_of_beZ l : Forall is_byte l -> bytes_of (length l) (beZ l) = l.
Proof.
  induction l as [|b l IH] using rev_ind; intros H; [reflexivity|].
  apply Forall_app in H as [Hl Hb]. inversion Hb as [|? ? Hb' _]; subst. unfold is_byte in Hb'.
  rewrite app_length; cbn [length]. replace (length l + 1)%nat with (S (length l)) by lia.
  cbn [bytes_of]. rewrite beZ_app.
  replace ((beZ l * 256 + b) / 256) with (beZ l) by (symmetry; rewrite Z.div_add_l by lia; rewrite (Z.div_small b) by lia; lia).
  replace ((beZ l * 256 + b) mod 256) with b
    by (symmetry; rewrite Z.add_comm, Z.mod_add by lia; apply Z.mod_small; lia).
  rewrite IH by assumption. reflexivity.
Qed.

Lemma mbytes_length m a n : length (mbytes m a n) = n.
Proof. revert a; induction n; intros a; cbn; [reflexivity | rewrite IHn; reflexivity]. Qed.

Lemma mbytes_bytes m a n : (forall x, is_byte (m x)) -> Forall is_byte (mbytes m a n).
Proof. intros H; revert a; induction n; intros a; cbn; constructor; auto. Qed.

Lemma mbytes_ext m m' a n : (forall x, a <= x < a + Z.of_nat n -> m x = m' x) -> mbytes m a n = mbytes m' a n.
Proof.
  revert a; induction n as [|n IH]; intros a H; [reflexivity|]. cbn [mbytes]. f_equal.
  - apply H; lia.
  - apply IH; intros x Hx; apply H; lia.
Qed.

Lemma mbytes_app m a n k : mbytes m a (n + k) = mbytes m a n ++ mbytes m (a + Z.of_nat n) k.
Proof.
  revert a; induction n as [|n IH]; intros a; [cbn; rewrite Z.add_0_r; reflexivity|].
  cbn [Nat.add mbytes app]. rewrite IH. do 3 f_equal. lia.
Qed.

Lemma mload_range m a : (forall x, is_byte (m x)) -> 0 <= mload m a < W.
Proof.
  intros H. unfold mload. pose proof (beZ_range _ (mbytes_bytes m a 32 H)) as R.
  rewrite mbytes_length in R. rewrite W_eq. exact R.
Qed.

Lemma mload_bytes m a : (forall x, is_byte (m x)) -> mbytes m a 32 = bytes_of 32 (mload m a).
Proof.
  intros H. unfold mload. pose proof (bytes_of_beZ _ (mbytes_bytes m a 32 H)) as E.
  rewrite mbytes_length in E. symmetry; exact E.
Qed.

Lemma mstore_bytes m a w : (forall x, is_byte (m x)) -> forall x, is_byte (mstore m a w x).
Proof.
  intros H x. unfold mstore. destruct (_ && _); [|apply H]. apply Z.mod_pos_bound. lia.
Qed.

Lemma mstore_end m a w (j : nat) : (j <= 32)%nat -> mbytes (mstore m a w) (a + (32 - Z.of_nat j)) j = bytes_of j w.
Proof.
  induction j as [|j IH]; intros Hj; [reflexivity|].
  rewrite bytes_of_S. cbn [mbytes]. f_equal.
  - unfold mstore. rewrite (proj2 (Z.leb_le _ _)), (proj2 (Z.ltb_lt _ _)) by lia. cbn [andb].
    do 2 f_equal. f_equal. lia.
  - rewrite <- IH by lia. f_equal. lia.
Qed.

Lemma mload_same m a w : 0 <= w < W -> mload (mstore m a w) a = w.
Proof.
  intros Hw. unfold mload. pose proof (mstore_end m a w 32 (le_n _)) as E.
  replace (a + (32 - Z.of_nat 32)) with a in E by lia. rewrite E, beZ_bytes_of.
  apply Z.mod_small. rewrite W_eq in Hw. exact Hw.
Qed.

Lemma mload_other m a w a' : a' + 32 <= a \/ a + 32 <= a' -> mload (mstore m a w) a' = mload m a'.
Proof.
  intros H. unfold mload. f_equal. apply mbytes_ext. intros x Hx. unfold mstore.
  destruct (Z.leb_spec a x), (Z.ltb_spec x (a + 32)); cbn; try reflexivity. lia.
Qed.

Lemma take_length n l : length (take n l) = n.
Proof. revert l; induction n; intros [|b l]; cbn; auto. Qed.

Lemma take_bytes n l : Forall is_byte l -> Forall is_byte (take n l).
Proof.
  revert l; induction n; intros l H; cbn; [constructor|]. destruct H; constructor; auto; unfold is_byte; lia.
Qed.

Lemma skipn_Forall {A} (Q : A -> Prop) n l : Forall Q l -> Forall Q (skipn n l).
Proof. revert l; induction n; intros l H; [exact H|]. destruct H; cbn; auto. Qed.

Lemma cdword_range cd off : Forall is_byte cd -> 0 <= cdword cd off < W.
Proof.
  intros H. unfold cdword. pose proof (beZ_range _ (take_bytes 32 _ (skipn_Forall _ (Z.to_nat off) cd H))) as R.
  rewrite take_length in R. rewrite W_eq. exact R.
Qed.

Lemma cdnumber_range cd off n : Forall is_byte cd -> 0 <= cdnumber cd off n < 256 ^ Z.of_nat (Z.to_nat n).
Proof.
  intros H. unfold cdnumber. pose proof (beZ_range _ (take_bytes (Z.to_nat n) _ (skipn_Forall _ (Z.to_nat off) cd H))) as R.
  rewrite take_length in R. exact R.
Qed.

Lemma skipn_skipn' {A} n k (l : list A) : skipn n (skipn k l) = skipn (k + n) l.
Proof. revert l; induction k; intros l; [reflexivity|]. destruct l; [cbn; apply skipn_nil|]. apply IHk. Qed.

Lemma nth_bytes_of n w (k : nat) : (k < n)%nat -> nth k (bytes_of n w) 0 = (w / 256 ^ (Z.of_nat n - 1 - Z.of_nat k)) mod 256.
Proof.
  revert k; induction n as [|n IH]; intros k Hk; [lia|]. rewrite bytes_of_S. destruct k as [|k]; cbn [nth].
  - do 2 f_equal. f_equal. lia.
  - rewrite IH by lia. do 2 f_equal. f_equal. lia.
Qed.

Lemma mstore_nth m a w x : mstore m a w x = if (a <=? x) && (x <? a + 32) then nth (Z.to_nat (x - a)) (bytes_of 32 w) 0 else m x.
Proof.
  unfold mstore. destruct (Z.leb_spec a x), (Z.ltb_spec x (a + 32)); cbn [andb]; try reflexivity.
  rewrite nth_bytes_of by lia. f_equal. f_equal. f_equal. lia.
Qed.

Lemma write_first b l m m' a x : length b = 32%nat ->
  (forall x, m' x = if (a <=? x) && (x <? a + 32) then nth (Z.to_nat (x - a)) b 0 else m x) ->
  write m a (b ++ l) x = write m' (a + 32) l x.
Proof.
  intros L E. unfold write. rewrite E, app_length, L.
  replace (a + Z.of_nat (32 + length l)) with (a + 32 + Z.of_nat (length l)) by lia.
  destruct (Z.leb_spec a x), (Z.ltb_spec x (a + 32 + Z.of_nat (length l))), (Z.leb_spec (a + 32) x), (Z.ltb_spec x (a + 32));
    cbn [andb]; try lia; try reflexivity.
  - rewrite app_nth2 by lia. f_equal. lia.
  - rewrite app_nth1 by lia. reflexivity.
Qed.

Lemma write_word m a w l x : write m a (bytes_of 32 w ++ l) x = write (mstore m a w) (a + 32) l x.
Proof. apply write_first; [apply bytes_of_length | intros y; apply mstore_nth]. Qed.

Lemma mload_is m a : beZ (mbytes m a 32) = mload m a. Proof. unfold mload. reflexivity. Qed.
