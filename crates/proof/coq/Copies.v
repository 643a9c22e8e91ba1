(* Bytes that are written many at a time, and lists of which one place changes: the lemmas that `SoundSlots.v` stands on. *)
From Coq Require Import ZArith List Bool Lia.
From Residue Require Import Evm Words Slots CheckSlots.
Import ListNotations.
Open Scope Z_scope.

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

Lemma whole_ok n k : whole n = Some k -> n = 32 * Z.of_nat k /\ Z.to_nat n = (32 * k)%nat.
Proof.
  unfold whole. destruct (Z.leb_spec 0 n); [|discriminate]. destruct (n <? 1048576); [|discriminate]. destruct (Z.eqb_spec (n mod 32) 0); [|discriminate].
  cbn [andb]. intros E; injection E as <-. pose proof (Z.div_mod n 32 ltac:(lia)).
  assert (0 <= n / 32) by (apply Z.div_pos; lia). split; lia.
Qed.

Lemma upd_length {A} n (x : A) l : length (upd n x l) = length l.
Proof. revert n; induction l as [|y l IH]; intros [|n]; cbn; auto. Qed.

Lemma nth_upd i j v l (d : Z) : (i < length l)%nat -> nth j (upd i v l) d = if Nat.eqb j i then v else nth j l d.
Proof.
  revert i j; induction l as [|y l IH]; intros [|i] [|j] H; cbn in *; try lia; try reflexivity. apply IH. lia.
Qed.

Lemma mload_is m a : beZ (mbytes m a 32) = mload m a. Proof. unfold mload. reflexivity. Qed.
Lemma cdword_is cd off : beZ (take 32 (skipn (Z.to_nat off) cd)) = cdword cd off. Proof. unfold cdword. reflexivity. Qed.
