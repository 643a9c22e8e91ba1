(* The checker is sound: what it accepts returns what the program means, for all calldata and all gas from a bound on. *)
From Coq Require Import ZArith List Bool Lia FMapPositive.
From Residue Require Import Evm Words Program Check Sums.
Import ListNotations.
Open Scope Z_scope.

Lemma whole_ok n k : whole n = Some k -> n = 32 * Z.of_nat k /\ Z.to_nat n = (32 * k)%nat.
Proof.
  unfold whole. destruct (Z.leb_spec 0 n); [|discriminate]. destruct (n <? 1048576); [|discriminate]. destruct (Z.eqb_spec (n mod 32) 0); [|discriminate].
  cbn [andb]. intros E; injection E as <-. pose proof (Z.div_mod n 32 ltac:(lia)).
  assert (0 <= n / 32) by (apply Z.div_pos; lia). split; lia.
Qed.

(* ---- the tables ---- *)

Section Run.
Variable P : program.
Variable cd : list Z.
Hypothesis cd_bytes : Forall is_byte cd.
Hypothesis cd_short : Z.of_nat (length cd) < W.
Variable code : list Z.
Let p := modulus P.
Hypothesis p_pos : 1 < p.
Variable e : env.
Hypothesis one : e 1%positive = 1.
Hypothesis parsed : forall i off, In (i, off) (parses P) -> e i = cdword cd off.

Notation "a == b" := (cong p a b) (at level 70).

Record tables_ok (T : tables) : Prop := {
  sums_ok : forall i s, M.find i (sums T) = Some s -> e i == den e s;
  products_ok : forall i a b, M.find i (products T) = Some (a, b) -> e i == den e a * den e b;
  defs_ok : forall i a, M.find i (defs T) = Some a -> e i == den e a }.

Lemma of_operand_ok T x s : tables_ok T -> of_operand p T x = Some s -> read e x == den e s.
Proof.
  intros [Hs _ _] H. destruct x as [i|c]; cbn in *; [apply Hs; exact H|].
  destruct (0 <=? c); [|discriminate]. injection H as <-. apply cong_sym. apply den_const; assumption.
Qed.

Lemma find_add {A} i j (x : A) m : M.find i (M.add j x m) = if Pos.eqb i j then Some x else M.find i m.
Proof.
  destruct (Pos.eqb_spec i j) as [->|N]; [apply PositiveMap.gss | apply PositiveMap.gso; exact N].
Qed.

Lemma den_one i : den e [(i, 1)] = e i.
Proof. cbn [den]. ring. Qed.

Lemma name_ok cuts T i a : tables_ok T -> e i == den e a -> tables_ok (name cuts T i a).
Proof.
  intros [Q1 Q2 Q3] Ha. unfold name. destruct (M.find i cuts); split; cbn [sums products defs]; auto;
    intros j s; rewrite find_add; destruct (Pos.eqb_spec j i) as [->|_]; auto; intros E; injection E as <-; auto.
  rewrite den_one. apply cong_refl.
Qed.

Lemma add_op_ok cuts T o T' : tables_ok T -> holds p e o -> add_op p cuts T o = Some T' -> tables_ok T'.
Proof.
  intros HT Ho H. unfold add_op in H.
  destruct (of_operand p T (left o)) as [a|] eqn:Ea; [|discriminate].
  destruct (of_operand p T (right o)) as [b|] eqn:Eb; [|discriminate].
  pose proof (of_operand_ok _ _ _ HT Ea) as Ha. pose proof (of_operand_ok _ _ _ HT Eb) as Hb.
  unfold holds in Ho. destruct (what o); cbn [field_op] in Ho.
  - injection H as <-. apply name_ok; [exact HT|]. rewrite Ho. eapply cong_trans; [apply cong_mod; lia|].
    eapply cong_trans; [apply cong_add; eassumption|]. apply cong_sym, den_sadd; assumption.
  - injection H as <-. apply name_ok; [exact HT|]. rewrite Ho. eapply cong_trans; [apply cong_mod; lia|].
    eapply cong_trans; [apply cong_sub; eassumption|]. apply cong_sym.
    eapply cong_trans; [apply den_sadd; assumption|]. apply cong_add; [apply cong_refl|]. apply den_sneg.
  - assert (Hm : e (out o) == den e a * den e b).
    { rewrite Ho. eapply cong_trans; [apply cong_mod; lia|]. apply cong_mul; assumption. }
    destruct (as_const a) as [k|] eqn:Ca.
    { injection H as <-. apply name_ok; [exact HT|]. apply (as_const_ok e one) in Ca. rewrite <- Ca.
      eapply cong_trans; [exact Hm|]. apply cong_sym, den_sscale; assumption. }
    destruct (as_const b) as [k|] eqn:Cb.
    { injection H as <-. apply name_ok; [exact HT|]. apply (as_const_ok e one) in Cb. rewrite <- Cb.
      eapply cong_trans; [exact Hm|]. rewrite Z.mul_comm. apply cong_sym, den_sscale; assumption. }
    injection H as <-. destruct HT as [Q1 Q2 Q3]. split; cbn [sums products defs].
    + intros i s. rewrite find_add. destruct (Pos.eqb_spec i (out o)) as [->|_]; [|apply Q1].
      intros E; injection E as <-. rewrite den_one. apply cong_refl.
    + intros i x y. rewrite find_add. destruct (Pos.eqb_spec i (out o)) as [->|_]; [|apply Q2].
      intros E; injection E as <- <-. exact Hm.
    + exact Q3.
Qed.

Lemma add_ops_ok cuts l : forall T T', tables_ok T -> Forall (holds p e) l -> add_ops p cuts T l = Some T' -> tables_ok T'.
Proof.
  induction l as [|o l IH]; intros T T' HT Hl H; cbn in H; [injection H as <-; exact HT|].
  destruct (add_op p cuts T o) as [T1|] eqn:E; [|discriminate]. inversion Hl; subst.
  eapply IH; [eapply add_op_ok; eauto | assumption | exact H].
Qed.

(* ---- symbolic words ---- *)

(* Parts of a number. *)
Definition all_parts (v : Z) (l : list Z) : Z := fold_right (fun n a => Z.lor (Z.shiftr v n mod W) a) 0 l.
(* The OR of what parses read. *)
Definition all_bits (l : list positive) : Z := fold_right (fun i a => Z.lor (e i) a) 0 l.

Fixpoint ceval (c : cond) : bool :=
  match c with
  | CSize n => Z.of_nat (length cd) =? n
  | CNotBelow i => p <=? e i
  | CNot c => negb (ceval c)
  | CAbove i n => 2 ^ n <=? e i
  | CZero s => den e s mod p =? 0
  | CNone l => all_bits l =? 0
  | CAnd a b => ceval a && ceval b
  end.

Definition is_word (w : Z) (x : sword) : Prop :=
  0 <= w < W /\
  match x with
  | SW s lo hi => lo <= w <= hi /\ w == den e s
  | SRaw i => w = e i
  | SSize => w = Z.of_nat (length cd)
  | SB c => w = b2z (ceval c)
  | SOr l n => w = Z.shiftr (all_bits l) n
  | SPart s l => w = all_parts (den e s mod p) l
  end.

Lemma lor_range a b : 0 <= a < W -> 0 <= b < W -> 0 <= Z.lor a b < W.
Proof.
  intros [A A'] [B B']. assert (N : 0 <= Z.lor a b) by (apply Z.lor_nonneg; lia). split; [exact N|].
  assert (E : Z.shiftr (Z.lor a b) 256 = 0).
  { rewrite Z.shiftr_lor, !Z.shiftr_div_pow2 by lia. change (2 ^ 256) with W. rewrite !Z.div_small by lia. reflexivity. }
  rewrite Z.shiftr_div_pow2 in E by lia. change (2 ^ 256) with W in E.
  apply Z.div_small_iff in E; [lia | pose proof W_pos; lia].
Qed.

Lemma shiftr_range a n : 0 <= n -> 0 <= a < W -> 0 <= Z.shiftr a n < W.
Proof.
  intros N [A A']. split; [apply Z.shiftr_nonneg; lia|]. rewrite Z.shiftr_div_pow2 by lia.
  assert (0 < 2 ^ n) by (apply Z.pow_pos_nonneg; lia). eapply Z.le_lt_trans; [|exact A'].
  apply Z.div_le_upper_bound; nia.
Qed.

Lemma all_bits_app a b : all_bits (a ++ b) = Z.lor (all_bits a) (all_bits b).
Proof. induction a as [|i a IH]; [reflexivity|]. cbn. unfold all_bits in *. rewrite IH. apply Z.lor_assoc. Qed.

Lemma ored_ok w x l n : is_word w x -> ored x = Some (l, n) -> w = Z.shiftr (all_bits l) n.
Proof.
  intros [_ H] E. destruct x as [| i | | | l' m |]; try discriminate; cbn in E.
  - injection E as <- <-. unfold all_bits. cbn [fold_right]. rewrite Z.lor_0_r, Z.shiftr_0_r. exact H.
  - injection E as <- <-. exact H.
Qed.

Lemma shifted_ok n w x y : is_word w x -> shifted n x = Some y -> 0 <= n < 256 /\ is_word (Z.shiftr w n) y.
Proof.
  intros H E. unfold shifted in E. destruct (ored x) as [[l m]|] eqn:O; [|discriminate].
  destruct (Z.leb_spec 0 n); [|discriminate]. destruct (Z.ltb_spec n 256); [|discriminate]. injection E as <-.
  split; [lia|]. split; [apply shiftr_range; [lia | apply H]|]. rewrite (ored_ok _ _ _ _ H O), Z.shiftr_shiftr by lia. reflexivity.
Qed.

Lemma all_parts_app v a b : all_parts v (a ++ b) = Z.lor (all_parts v a) (all_parts v b).
Proof.
  induction a as [|n a IH]; [reflexivity|]. change (all_parts v ((n :: a) ++ b)) with (Z.lor (Z.shiftr v n mod W) (all_parts v (a ++ b))).
  rewrite IH. apply Z.lor_assoc.
Qed.

(* An element is zero where all parts of it are. *)
Lemma covers_ok s l : covers p l = true -> (all_parts (den e s mod p) l =? 0) = (den e s mod p =? 0).
Proof.
  intros H. pose proof (Z.mod_pos_bound (den e s) p ltac:(lia)) as R. set (v := den e s mod p) in *.
  destruct (Z.eqb_spec v 0) as [->|N].
  - apply Z.eqb_eq. clear. induction l as [|n l IH]; [reflexivity|].
    change (all_parts 0 (n :: l)) with (Z.lor (Z.shiftr 0 n mod W) (all_parts 0 l)). rewrite IH, Z.shiftr_0_l. reflexivity.
  - apply Z.eqb_neq. intros E. apply N. clear N.
    assert (Parts : forall n, In n l -> Z.shiftr v n mod W = 0).
    { clear - E. induction l as [|m l IH]; intros n I; [destruct I|]. cbn in E. apply Z.lor_eq_0_iff in E as [E1 E2].
      destruct I as [<-|I]; [exact E1 | apply IH; assumption]. }
    apply Z.bits_inj_0. intros i. destruct (Z.ltb_spec i 0) as [I0|I0]; [apply Z.testbit_neg_r; exact I0|].
    pose proof (Z.log2_nonneg p) as L0. set (limbs := Z.log2 p / 64 + 1) in *.
    assert (L1 : 0 <= Z.log2 p / 64) by (apply Z.div_pos; lia).
    destruct (Z.ltb_spec i (64 * limbs)) as [L|L].
    + unfold covers in H. fold limbs in H. rewrite forallb_forall in H. assert (0 <= i / 64) by (apply Z.div_pos; lia).
      assert (i / 64 < limbs) by (apply Z.div_lt_upper_bound; lia).
      specialize (H (Z.to_nat (i / 64))). rewrite existsb_exists in H. destruct H as [n [In_ B]]; [apply in_seq; lia|].
      rewrite Z2Nat.id in B by lia. apply andb_prop in B as [B B2]. apply andb_prop in B as [B0 B1]. apply Z.leb_le in B0, B1, B2.
      pose proof (Z.div_mod i 64 ltac:(lia)). pose proof (Z.mod_pos_bound i 64 ltac:(lia)).
      apply Parts in In_. assert (T : Z.testbit (Z.shiftr v n mod 2 ^ 256) (i - n) = false).
      { change (2 ^ 256) with W. rewrite In_. apply Z.testbit_0_l. }
      rewrite Z.mod_pow2_bits_low, Z.shiftr_spec in T by lia. replace (i - n + n) with i in T by lia. exact T.
    + destruct (Z.eq_dec v 0) as [->|V]; [apply Z.testbit_0_l|]. apply Z.bits_above_log2; [lia|].
      eapply Z.le_lt_trans; [apply Z.log2_le_mono; apply Z.lt_le_incl; apply R|].
      pose proof (Z.div_mod (Z.log2 p) 64 ltac:(lia)). pose proof (Z.mod_pos_bound (Z.log2 p) 64 ltac:(lia)). unfold limbs in L. lia.
Qed.

(* A shift leaves something if one of the numbers has more bits. *)
Lemma above l n : 0 <= n -> (forall i, In i l -> 0 <= e i) ->
  if Z.shiftr (all_bits l) n =? 0 then forall i, In i l -> ceval (CAbove i n) = false
  else exists i, In i l /\ ceval (CAbove i n) = true.
Proof.
  intros N. assert (0 < 2 ^ n) by (apply Z.pow_pos_nonneg; lia).
  induction l as [|i l IH]; intros R; [cbn; rewrite Z.shiftr_0_l; cbn; intros i []|].
  assert (Ri : 0 <= e i) by (apply R; left; reflexivity).
  assert (Rl : forall i, In i l -> 0 <= e i) by (intros j J; apply R; right; exact J). specialize (IH Rl).
  change (all_bits (i :: l)) with (Z.lor (e i) (all_bits l)). rewrite Z.shiftr_lor.
  destruct (Z.eqb_spec (Z.lor (Z.shiftr (e i) n) (Z.shiftr (all_bits l) n)) 0) as [E|E].
  - apply Z.lor_eq_0_iff in E as [E1 E2]. rewrite E2 in IH. cbn [Z.eqb] in IH. intros j [<-|J]; [|apply IH; exact J].
    cbn [ceval]. apply Z.leb_gt. rewrite Z.shiftr_div_pow2 in E1 by lia. apply Z.div_small_iff in E1; lia.
  - destruct (Z.eqb_spec (Z.shiftr (all_bits l) n) 0) as [E2|E2].
    + exists i. split; [left; reflexivity|]. cbn [ceval]. apply Z.leb_le. rewrite E2, Z.lor_0_r in E.
      rewrite Z.shiftr_div_pow2 in E by lia. destruct (Z.le_gt_cases (2 ^ n) (e i)); [assumption|].
      exfalso. apply E. apply Z.div_small. lia.
    + destruct IH as [j [J C]]. exists j. split; [right; exact J | exact C].
Qed.

Lemma all_bits_nonneg l : 0 <= all_bits l -> forall i, In i l -> 0 <= e i.
Proof.
  induction l as [|j l IH]; intros H i I; [destruct I|]. change (all_bits (j :: l)) with (Z.lor (e j) (all_bits l)) in H.
  apply Z.lor_nonneg in H as [H1 H2]. destruct I as [<-|I]; [exact H1 | apply IH; assumption].
Qed.

Lemma none_above_ok l n : 0 <= n -> 0 <= all_bits l -> (Z.shiftr (all_bits l) n =? 0) = ceval (none_above l n).
Proof.
  intros N R. pose proof (above l n N (all_bits_nonneg l R)) as A. clear R.
  assert (T : ceval (none_above l n) = forallb (fun i => negb (ceval (CAbove i n))) l).
  { clear. induction l as [|i [|j l] IH]; [reflexivity | cbn; rewrite andb_true_r; reflexivity|].
    change (ceval (none_above (i :: j :: l) n)) with (negb (ceval (CAbove i n)) && ceval (none_above (j :: l) n)). rewrite IH. reflexivity. }
  rewrite T. clear T. destruct (Z.shiftr (all_bits l) n =? 0).
  - symmetry. apply forallb_forall. intros i I. rewrite (A i I). reflexivity.
  - destruct A as [i [I A]]. symmetry. apply not_true_is_false. intros F. rewrite forallb_forall in F. specialize (F i I).
    rewrite A in F. discriminate.
Qed.

Lemma condeqb_ok a b : condeqb a b = true -> a = b.
Proof.
  revert b; induction a; intros []; cbn; intros H; try discriminate.
  - apply Z.eqb_eq in H; congruence.
  - apply Pos.eqb_eq in H; congruence.
  - apply IHa in H; congruence.
  - apply andb_prop in H as [H1 H2]. apply Pos.eqb_eq in H1. apply Z.eqb_eq in H2. congruence.
Qed.

Lemma exactly_ok w x v : is_word w x -> exactly x = Some v -> w = v.
Proof.
  intros [_ H] E. destruct x; cbn in E; try discriminate. destruct (Z.eqb_spec lo hi); [|discriminate].
  injection E as <-. destruct H. lia.
Qed.

Lemma is_p_ok w x : is_word w x -> is_p p x = true -> w = p.
Proof.
  unfold is_p. intros H E. destruct (exactly x) as [v|] eqn:X; [|discriminate].
  apply Z.eqb_eq in E. apply (exactly_ok _ _ _ H) in X. congruence.
Qed.

Record mem_ok (m : memory) (sm : M.t sword) : Prop := {
  mem_bytes : forall x, is_byte (m x);
  mem_words : forall key x, M.find key sm = Some x -> is_word (mload m (32 * (Z.pos key - 1))) x;
  mem_zeros : forall key, M.find key sm = None -> mload m (32 * (Z.pos key - 1)) = 0 }.

Lemma mem_word m sm key : mem_ok m sm ->
  is_word (mload m (32 * (Z.pos key - 1))) (match M.find key sm with Some x => x | None => SW [] 0 0 end).
Proof.
  intros [_ Mw Mz]. destruct (M.find key sm) as [x|] eqn:F; [apply Mw; exact F|]. rewrite (Mz _ F).
  split; [pose proof W_pos; lia|]. split; [lia | apply cong_refl].
Qed.

Lemma mem_stored m sm key w x : mem_ok m sm -> is_word w x -> mem_ok (mstore m (32 * (Z.pos key - 1)) w) (M.add key x sm).
Proof.
  intros [Mb Mw Mz] [R Hw]. split; [apply mstore_bytes; assumption| |]; intros key'; rewrite find_add;
    destruct (Pos.eqb_spec key' key) as [->|N].
  - intros x' E. injection E as <-. rewrite mload_same by assumption. split; assumption.
  - intros x' F. rewrite mload_other; [apply Mw; assumption|]. assert (Z.pos key' <> Z.pos key) by congruence. lia.
  - discriminate.
  - intros F. rewrite mload_other; [apply Mz; assumption|]. assert (Z.pos key' <> Z.pos key) by congruence. lia.
Qed.

Lemma mem_ext m m' sm : (forall x, m x = m' x) -> mem_ok m sm -> mem_ok m' sm.
Proof.
  intros E [Mb Mw Mz].
  assert (L : forall a, mload m' a = mload m a).
  { intros a. unfold mload. f_equal. apply mbytes_ext. intros x _. symmetry; apply E. }
  split.
  - intros x. rewrite <- E. apply Mb.
  - intros key x F. rewrite L. apply Mw; exact F.
  - intros key F. rewrite L. apply Mz; exact F.
Qed.

Lemma write_nil m a x : write m a [] x = m x.
Proof. unfold write. cbn [length]. destruct (Z.leb_spec a x), (Z.ltb_spec x (a + Z.of_nat 0)); cbn; try reflexivity; lia. Qed.

Lemma stored_ok ws xs : Forall2 is_word ws xs -> forall m sm key, mem_ok m sm ->
  mem_ok (write m (32 * (Z.pos key - 1)) (flat_map (bytes_of 32) ws)) (stored sm key xs).
Proof.
  induction 1 as [|w x ws xs Hw _ IH]; intros m sm key Hm; cbn [flat_map stored].
  - eapply mem_ext; [|exact Hm]. intros x. symmetry; apply write_nil.
  - eapply mem_ext; [intros y; symmetry; apply write_word|].
    replace (32 * (Z.pos key - 1) + 32) with (32 * (Z.pos (Pos.succ key) - 1)) by lia.
    apply IH. apply mem_stored; assumption.
Qed.

Lemma numbers_bytes m a n : (forall x, is_byte (m x)) -> flat_map (bytes_of 32) (numbers m a 32 n) = mbytes m a (32 * n).
Proof.
  intros H. revert a. induction n as [|n IH]; intros a; [reflexivity|]. cbn [numbers flat_map].
  replace (32 * Datatypes.S n)%nat with (32 + 32 * n)%nat by lia. rewrite mbytes_app. change (Z.to_nat 32) with 32%nat.
  rewrite mload_is, <- mload_bytes by exact H. f_equal. apply IH.
Qed.

Lemma loaded_ok m sm n : mem_ok m sm -> forall key,
  Forall2 is_word (numbers m (32 * (Z.pos key - 1)) 32 n) (loaded sm key n).
Proof.
  intros Hm. induction n as [|n IH]; intros key; cbn [numbers loaded]; constructor.
  - change (Z.to_nat 32) with 32%nat. rewrite mload_is. exact (mem_word m sm key Hm).
  - replace (32 * (Z.pos key - 1) + 32) with (32 * (Z.pos (Pos.succ key) - 1)) by lia. apply IH.
Qed.

Definition stack_ok := Forall2 is_word.

Lemma nth_ok k ss n x : stack_ok k ss -> nth_error ss n = Some x -> exists w, nth_error k n = Some w /\ is_word w x.
Proof.
  intros H; revert n; induction H as [|w y k ss Hw _ IH]; intros [|n] E; cbn in *; try discriminate.
  - injection E as <-. eauto.
  - auto.
Qed.

Lemma upd_ok k ss n w x : stack_ok k ss -> is_word w x -> stack_ok (upd n w k) (upd n x ss).
Proof.
  intros H Hw; revert n; induction H; intros [|n]; cbn; constructor; auto. apply IHForall2.
Qed.

Lemma slot_ok w x a key : is_word w x -> slot_of x = Some (a, key) -> w = a /\ 0 <= a /\ a = 32 * (Z.pos key - 1).
Proof.
  intros H E. unfold slot_of in E. destruct (exactly x) as [v|] eqn:X; [|discriminate].
  apply (exactly_ok _ _ _ H) in X. destruct (Z.leb_spec 0 v); [|discriminate]. destruct (v <? 2 ^ 32); [|discriminate].
  destruct (Z.eqb_spec (v mod 32) 0) as [M0|]; [|discriminate]. cbn [andb] in E.
  assert (Ea : a = v) by congruence. assert (Ek : key = Z.to_pos (v / 32 + 1)) by congruence. subst a key w.
  assert (Q : v = 32 * (v / 32)) by (pose proof (Z.div_mod v 32 ltac:(lia)); lia).
  assert (0 <= v / 32) by (apply Z.div_pos; lia).
  rewrite Z2Pos.id by lia. split; [reflexivity | lia].
Qed.

Lemma product_ok T a b hs c hs' : tables_ok T -> product p T a b hs = Some (c, hs') -> den e c == den e a * den e b.
Proof.
  intros HT H. unfold product in H.
  destruct (as_const a) as [k|] eqn:Ca.
  { injection H as <- <-. apply (as_const_ok e one) in Ca. rewrite Ca. apply den_sscale; assumption. }
  destruct (as_const b) as [k|] eqn:Cb.
  { injection H as <- <-. apply (as_const_ok e one) in Cb. rewrite Cb, Z.mul_comm. apply den_sscale; assumption. }
  destruct hs as [|h hs]; [discriminate|]. destruct (M.find h (products T)) as [[x y]|] eqn:F; [|discriminate].
  apply (products_ok _ HT) in F.
  pose proof (den_sneg p e a) as Na. pose proof (den_sneg p e b) as Nb.
  assert (plus : forall u v, u == den e x -> v == den e y -> e h == u * v).
  { intros u v Hu Hv. eapply cong_trans; [exact F|]. apply cong_sym, cong_mul; assumption. }
  assert (E : forall u v, seqb u v = true -> den e u == den e v) by (intros u v Hq; apply seqb_ok in Hq; subst; auto).
  repeat match type of H with
  | context [if ?c then _ else _] => let Q := fresh "Q" in destruct c eqn:Q
  end; try discriminate; injection H as <- <-; cbn [den].
  - assert (e h == den e a * den e b); [|eapply cong_trans; [|eassumption]; exists 0; ring].
    apply orb_prop in Q as [Q|Q]; apply andb_prop in Q as [Qa Qb]; apply E in Qa, Qb.
    + apply plus; assumption.
    + rewrite Z.mul_comm. apply plus; assumption.
  - assert (e h == den e (sneg p a) * den e (sneg p b)).
    { apply orb_prop in Q0 as [Q0|Q0]; apply andb_prop in Q0 as [Qa Qb]; apply E in Qa, Qb.
      + apply plus; assumption.
      + rewrite Z.mul_comm. apply plus; assumption. }
    eapply cong_trans; [|eapply cong_trans; [exact H|]]; [exists 0; ring|].
    eapply cong_trans; [apply cong_mul; [exact Na | exact Nb]|]. exists 0; ring.
  - assert (N : e h == - (den e a * den e b)).
    { apply orb_prop in Q1 as [Q1|Q1]; [apply orb_prop in Q1 as [Q1|Q1]; [apply orb_prop in Q1 as [Q1|Q1]|]|];
        apply andb_prop in Q1 as [Qa Qb]; apply E in Qa, Qb.
      - eapply cong_trans; [apply (plus _ _ Qa Qb)|].
        eapply cong_trans; [apply cong_mul; [exact Na | apply cong_refl]|]. exists 0; ring.
      - eapply cong_trans; [apply (plus _ _ Qb Qa)|].
        eapply cong_trans; [apply cong_mul; [apply cong_refl | exact Na]|]. exists 0; ring.
      - eapply cong_trans; [apply (plus _ _ Qa Qb)|].
        eapply cong_trans; [apply cong_mul; [apply cong_refl | exact Nb]|]. exists 0; ring.
      - eapply cong_trans; [apply (plus _ _ Qb Qa)|].
        eapply cong_trans; [apply cong_mul; [exact Nb | apply cong_refl]|]. exists 0; ring. }
    apply cong_opp in N. eapply cong_trans; [|eapply cong_trans; [exact N|]]; [exists (e h); ring|]. exists 0; ring.
Qed.

(* ---- an instruction ---- *)

Record match_ok (k : list Z) (m : memory) (mw : Z) (s : sstate) : Prop := {
  ms_stack : stack_ok k (sstack s);
  ms_mem : mem_ok m (smem s);
  ms_mw : mw = smw s }.

Lemma truth_word c : is_word (b2z (ceval c)) (SB c).
Proof. split; [|reflexivity]. destruct (ceval c); cbn; pose proof W_pos; pose proof W_eq; lia. Qed.

Lemma iszero_ok w x c : is_word w x -> iszero p x = Some c -> (w =? 0) = ceval c.
Proof.
  intros [R H] E. destruct x as [s lo hi|i| |c'|l n|s l]; cbn in E.
  - destruct (Z.leb_spec 0 lo); [|discriminate]. destruct (Z.ltb_spec hi p); [|discriminate]. injection E as <-.
    destruct H as [B C]. cbn [ceval]. f_equal. destruct C as [q ->].
    rewrite <- (Z_mod_plus_full (den e s) q p). symmetry. apply Z.mod_small. lia.
  - injection E as <-. cbn. rewrite Z.lor_0_r, H. reflexivity.
  - injection E as <-. cbn. rewrite H. reflexivity.
  - injection E as <-. rewrite H. cbn. destruct (ceval c'); reflexivity.
  - destruct (Z.eqb_spec n 0) as [->|]; [injection E as <-; rewrite H, Z.shiftr_0_r; reflexivity|].
    destruct (Z.ltb_spec 0 n); [|discriminate]. injection E as <-. rewrite H. apply none_above_ok; [lia|].
    rewrite H in R. apply (proj1 (Z.shiftr_nonneg _ n)). lia.
  - destruct (covers p l) eqn:C; [|discriminate]. injection E as <-. rewrite H. apply covers_ok; exact C.
Qed.

Lemma sbin_ok i w u x y z : is_word w x -> is_word u y -> sbin p i x y = Some z -> is_word (bin i w u) z.
Proof.
  intros Hw Hu H.
  assert (both : forall v a b c, w = b2z (ceval a) -> u = b2z (ceval b) -> Some (SB c) = Some z ->
    v = b2z (ceval c) -> is_word v z).
  { intros v a b c _ _ E ->. injection E as <-. apply truth_word. }
  assert (zero : forall v t c, is_word v t -> option_map SB (iszero p t) = Some c -> is_word (b2z (v =? 0)) c).
  { intros v t c Hv E. destruct (iszero p t) as [c'|] eqn:Q; [|discriminate]. injection E as <-.
    rewrite (iszero_ok _ _ _ Hv Q). apply truth_word. }
  destruct i; try (destruct x, y; discriminate).
  - destruct x as [| | |a| |], y as [| | |b| |]; try discriminate H. destruct Hw as [_ Hw], Hu as [_ Hu].
    eapply both; [exact Hw | exact Hu | exact H|]. subst. cbn. destruct (ceval a), (ceval b); reflexivity.
  - destruct x as [|i| |a| |]; try (destruct y; discriminate H).
    + assert (E : match exactly y with
          | Some n => if n =? p - 1 then Some (SB (CNotBelow i)) else None | None => None end = Some z) by (destruct y; exact H).
      destruct (exactly y) as [v|] eqn:X; [|discriminate]. apply (exactly_ok _ _ _ Hu) in X. subst u.
      destruct (Z.eqb_spec v (p - 1)) as [->|]; [|discriminate]. injection E as <-. destruct Hw as [_ ->].
      replace (bin GT (e i) (p - 1)) with (b2z (ceval (CNotBelow i))); [apply truth_word|]. cbn.
      f_equal. destruct (Z.ltb_spec (p - 1) (e i)), (Z.leb_spec p (e i)); lia.
    + destruct y as [| | |b| |]; try discriminate H. destruct Hw as [_ Hw], Hu as [_ Hu].
      eapply both; [exact Hw | exact Hu | exact H|]. subst. cbn. destruct (ceval a), (ceval b); reflexivity.
  - assert (size : forall v, is_word (b2z (Z.of_nat (length cd) =? v)) (SB (CSize v))) by (intros v; apply (truth_word (CSize v))).
    assert (eqs : match exactly x, exactly y with
        | Some 0, _ => option_map SB (iszero p y) | _, Some 0 => option_map SB (iszero p x) | _, _ => None end = Some z ->
      is_word (b2z (w =? u)) z).
    { intros E. destruct (exactly x) as [[| |]|] eqn:X; destruct (exactly y) as [[| |]|] eqn:Y; try discriminate;
        try (apply (exactly_ok _ _ _ Hw) in X; subst w; rewrite Z.eqb_sym; apply (zero _ _ _ Hu E));
        try (apply (exactly_ok _ _ _ Hu) in Y; subst u; apply (zero _ _ _ Hw E)). }
    cbn [bin].
    destruct x as [| | | | |]; destruct y as [| | | | |]; try (apply eqs; exact H); cbn [sbin] in H;
      try (match type of H with context [exactly ?t] => destruct (exactly t) as [v|] eqn:X; [|discriminate] end;
           injection H as <-;
           (apply (exactly_ok _ _ _ Hu) in X; subst u; destruct Hw as [_ ->]; apply size)
           || (apply (exactly_ok _ _ _ Hw) in X; subst w; destruct Hu as [_ ->]; rewrite Z.eqb_sym; apply size)).
  - destruct x as [| | |a| |], y as [| | |b| |]; try discriminate H. destruct Hw as [_ Hw], Hu as [_ Hu].
    eapply both; [exact Hw | exact Hu | exact H|]. subst. cbn. destruct (ceval a), (ceval b); reflexivity.
  - assert (ors : match ored x, ored y with
        Some (a, n), Some (b, m) => if n =? m then Some (SOr (a ++ b) n) else None | _, _ => None end = Some z -> is_word (Z.lor w u) z).
    { intros E. destruct (ored x) as [[a n]|] eqn:X; [|discriminate]. destruct (ored y) as [[b m]|] eqn:Y; [|discriminate].
      destruct (Z.eqb_spec n m) as [->|]; [|discriminate]. injection E as <-. split; [apply lor_range; [apply Hw | apply Hu]|].
      rewrite all_bits_app, Z.shiftr_lor, (ored_ok _ _ _ _ Hw X), (ored_ok _ _ _ _ Hu Y). reflexivity. }
    cbn [bin].
    destruct x as [| | |a| |s l]; try (apply ors; destruct y; exact H).
    + destruct y as [| | |b| |]; try (apply ors; exact H). destruct Hw as [_ Hw], Hu as [_ Hu].
      eapply both; [exact Hw | exact Hu | exact H|]. subst. cbn. destruct (ceval a), (ceval b); reflexivity.
    + destruct y as [| | | | |t m]; try (apply ors; exact H). cbn [sbin] in H. destruct (seqb s t) eqn:Q; [|discriminate].
      apply seqb_ok in Q. subst t. injection H as <-. split; [apply lor_range; [apply Hw | apply Hu]|].
      rewrite all_parts_app. destruct Hw as [_ ->], Hu as [_ ->]. reflexivity.
Qed.

Lemma sinstr_ok T i s cost s' k m mw next :
  tables_ok T -> match_ok k m mw s -> sinstr p T (parses P) i s = Some (cost, s') ->
  exists k' m' mw', exec code cd i next k m mw = (cost, Go k' m' mw' next) /\ match_ok k' m' mw' s'.
Proof.
  intros HT [Hk Hm ->] H. destruct s as [ss sm smw hs]; cbn [sstack smem Check.smw hints] in *.
  assert (b2z_word : forall b, 0 <= b2z b < W) by (intros []; cbn; pose proof W_pos; pose proof W_eq; lia).
  assert (binary : forall i, match i with LT | GT | EQ | AND | OR => true | _ => false end = true ->
    match ss with x :: y :: r => match sbin p i x y with Some z => Some (3, S (z :: r) sm smw hs) | None => None end
             | _ => None end = Some (cost, s') ->
    exists k' m' mw', exec code cd i next k m smw = (cost, Go k' m' mw' next) /\ match_ok k' m' mw' s').
  { intros j J E. destruct ss as [|x [|y r]]; try discriminate. destruct (sbin p j x y) as [z|] eqn:Z0; [|discriminate].
    injection E as <- <-. inversion Hk as [|w ? k1 ? Hw Hk1]; subst. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst.
    exists (bin j w u :: k2), m, smw. split; [destruct j; discriminate || reflexivity|].
    split; cbn [sstack smem Check.smw]; auto. constructor; [|assumption]. eapply sbin_ok; eassumption. }
  destruct i; cbn [sinstr sstack smem Check.smw hints] in H; try discriminate;
    try (apply binary; [reflexivity | exact H]); clear binary.
  - (* PUSH *)
    destruct (Z.leb_spec 0 v); [|discriminate]. destruct (Z.ltb_spec v W); [|discriminate].
    cbn [andb] in H. injection H as <- <-. do 3 eexists; split; [reflexivity|]. split; cbn [sstack smem Check.smw]; auto.
    constructor; [|exact Hk]. split; [lia|]. split; [lia|]. apply cong_sym, den_const; assumption.
  - (* DUP *)
    destruct (nth_error ss n) as [x|] eqn:E; [|discriminate]. injection H as <- <-.
    destruct (nth_ok _ _ _ _ Hk E) as [w [Ew Hw]]. do 3 eexists; split; [cbn; rewrite Ew; reflexivity|].
    split; cbn [sstack smem Check.smw]; auto. constructor; assumption.
  - (* SWAP *)
    destruct ss as [|x r]; [discriminate|]. destruct (nth_error r n) as [y|] eqn:E; [|discriminate]. injection H as <- <-.
    inversion Hk as [|w x' k' r' Hw Hr]; subst. destruct (nth_ok _ _ _ _ Hr E) as [u [Eu Hu]].
    do 3 eexists; split; [cbn; rewrite Eu; reflexivity|]. split; cbn [sstack smem Check.smw]; auto.
    constructor; [assumption|]. apply upd_ok; assumption.
  - (* POP *)
    destruct ss as [|x r]; [discriminate|]. injection H as <- <-. inversion Hk; subst.
    do 3 eexists; split; [reflexivity|]. split; cbn [sstack smem Check.smw]; auto.
  - (* ADD *)
    destruct ss as [|[a l h| | | | |] [|[b l' h'| | | | |] r]]; try discriminate.
    destruct (Z.ltb_spec (h + h') W); [|discriminate]. injection H as <- <-.
    inversion Hk as [|w ? k1 ? Hw Hk1]; subst. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst.
    destruct Hw as [Rw [Bw Cw]], Hu as [Ru [Bu Cu]].
    do 3 eexists; split; [reflexivity|]. split; cbn [sstack smem Check.smw]; auto. constructor; [|assumption].
    rewrite Z.mod_small by lia. split; [lia|]. split; [lia|].
    eapply cong_trans; [apply cong_add; eassumption|]. apply cong_sym, den_sadd; assumption.
  - (* MUL *)
    destruct ss as [|[a l h| | | | |] [|[b l' h'| | | | |] r]]; try discriminate.
    destruct (Z.leb_spec 0 l); [|discriminate]. destruct (Z.leb_spec 0 l'); [|discriminate].
    destruct (Z.ltb_spec (h * h') W); [|discriminate]. cbn [andb] in H.
    destruct (product p T a b hs) as [[c hs']|] eqn:E; [|discriminate]. injection H as <- <-.
    inversion Hk as [|w ? k1 ? Hw Hk1]; subst. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst.
    destruct Hw as [Rw [Bw Cw]], Hu as [Ru [Bu Cu]].
    do 3 eexists; split; [reflexivity|]. split; cbn [sstack smem Check.smw]; auto. constructor; [|assumption].
    assert (0 <= w * u <= h * h') by (split; [nia | apply Z.mul_le_mono_nonneg; lia]).
    rewrite Z.mod_small by lia. split; [lia|].
    split. { split; [apply Z.mul_le_mono_nonneg; lia | lia]. }
    eapply cong_trans; [apply cong_mul; eassumption|]. apply cong_sym. eapply product_ok; eassumption.
  - (* SUB *)
    destruct ss as [|[a l h| | | | |] [|[b l' h'| | | | |] r]]; try discriminate.
    destruct (Z.leb_spec h' l); [|discriminate]. injection H as <- <-.
    inversion Hk as [|w ? k1 ? Hw Hk1]; subst. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst.
    destruct Hw as [Rw [Bw Cw]], Hu as [Ru [Bu Cu]].
    do 3 eexists; split; [reflexivity|]. split; cbn [sstack smem Check.smw]; auto. constructor; [|assumption].
    rewrite Z.mod_small by lia. split; [lia|]. split; [lia|].
    eapply cong_trans; [apply cong_sub; eassumption|]. apply cong_sym.
    eapply cong_trans; [apply den_sadd; assumption|]. apply cong_add; [apply cong_refl | apply den_sneg].
  - (* MOD *)
    destruct ss as [|[a l h| | | | |] [|q r]]; try discriminate. destruct (is_p p q) eqn:Q; [|discriminate]. injection H as <- <-.
    inversion Hk as [|w ? k1 ? Hw Hk1]; subst. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst.
    apply (is_p_ok _ _ Hu) in Q. subst u. pose proof (proj1 Hu) as Rp. destruct Hw as [Rw [Bw Cw]].
    do 3 eexists; split; [cbn; rewrite (proj2 (Z.eqb_neq p 0)) by lia; reflexivity|]. split; cbn [sstack smem Check.smw]; auto.
    constructor; [|assumption]. pose proof (Z.mod_pos_bound w p). split; [lia|]. split; [lia|].
    eapply cong_trans; [apply cong_mod; lia | exact Cw].
  - (* ADDMOD *)
    destruct ss as [|[a l h| | | | |] [|[b l' h'| | | | |] [|q r]]]; try discriminate.
    destruct (is_p p q) eqn:Q; [|discriminate]. injection H as <- <-.
    inversion Hk as [|w ? k1 ? Hw Hk1]; subst. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst.
    inversion Hk2 as [|v ? k3 ? Hv Hk3]; subst. apply (is_p_ok _ _ Hv) in Q. subst v. pose proof (proj1 Hv) as Rp.
    destruct Hw as [Rw [Bw Cw]], Hu as [Ru [Bu Cu]].
    do 3 eexists; split; [cbn; rewrite (proj2 (Z.eqb_neq p 0)) by lia; reflexivity|]. split; cbn [sstack smem Check.smw]; auto.
    constructor; [|assumption]. pose proof (Z.mod_pos_bound (w + u) p). split; [lia|]. split; [lia|].
    eapply cong_trans; [apply cong_mod; lia|].
    eapply cong_trans; [apply cong_add; eassumption|]. apply cong_sym, den_sadd; assumption.
  - (* MULMOD *)
    destruct ss as [|[a l h| | | | |] [|[b l' h'| | | | |] [|q r]]]; try discriminate.
    destruct (is_p p q) eqn:Q; [|discriminate]. destruct (product p T a b hs) as [[c hs']|] eqn:E; [|discriminate].
    injection H as <- <-.
    inversion Hk as [|w ? k1 ? Hw Hk1]; subst. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst.
    inversion Hk2 as [|v ? k3 ? Hv Hk3]; subst. apply (is_p_ok _ _ Hv) in Q. subst v. pose proof (proj1 Hv) as Rp.
    destruct Hw as [Rw [Bw Cw]], Hu as [Ru [Bu Cu]].
    do 3 eexists; split; [cbn; rewrite (proj2 (Z.eqb_neq p 0)) by lia; reflexivity|]. split; cbn [sstack smem Check.smw]; auto.
    constructor; [|assumption]. pose proof (Z.mod_pos_bound (w * u) p). split; [lia|]. split; [lia|].
    eapply cong_trans; [apply cong_mod; lia|].
    eapply cong_trans; [apply cong_mul; eassumption|]. apply cong_sym. eapply product_ok; eassumption.
  - (* ISZERO *)
    destruct ss as [|x r]; [discriminate|]. destruct (iszero p x) as [c|] eqn:X; [|discriminate]. injection H as <- <-.
    inversion Hk as [|w ? k1 ? Hw Hk1]; subst.
    do 3 eexists; split; [reflexivity|]. split; cbn [sstack smem Check.smw]; auto. constructor; [|assumption].
    rewrite (iszero_ok _ _ _ Hw X). apply truth_word.
  - (* SHR *)
    destruct ss as [|x [|y r]]; try discriminate.
    destruct (exactly x) as [n|] eqn:X; [|discriminate]. destruct (shifted n y) as [z|] eqn:Y; [|discriminate].
    injection H as <- <-. inversion Hk as [|w ? k1 ? Hw Hk1]; subst. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst.
    apply (exactly_ok _ _ _ Hw) in X. subst w. destruct (shifted_ok _ _ _ _ Hu Y) as [N Hz].
    do 3 eexists; split; [cbn; rewrite (proj2 (Z.ltb_lt n 256)) by lia; reflexivity|].
    split; cbn [sstack smem Check.smw]; auto. constructor; assumption.
  - (* CALLDATALOAD *)
    destruct ss as [|x r]; [discriminate|]. destruct (exactly x) as [off|] eqn:X; [|discriminate].
    destruct hs as [|h hs]; [discriminate|]. destruct (existsb _ (parses P)) eqn:Q; [|discriminate]. injection H as <- <-.
    inversion Hk as [|w ? k1 ? Hw Hk1]; subst. apply (exactly_ok _ _ _ Hw) in X. subst w.
    apply existsb_exists in Q as [[i o] [I Q]]. apply andb_prop in Q as [Q1 Q2].
    apply Pos.eqb_eq in Q1. apply Z.eqb_eq in Q2. subst i o.
    do 3 eexists; split; [reflexivity|]. split; cbn [sstack smem Check.smw]; auto. constructor; [|assumption].
    split; [apply cdword_range; assumption|]. symmetry; apply parsed; assumption.
  - (* CALLDATASIZE *)
    injection H as <- <-. do 3 eexists; split; [reflexivity|]. split; cbn [sstack smem Check.smw]; auto. constructor; [|assumption].
    split; [lia | reflexivity].
  - (* MLOAD *)
    destruct ss as [|x r]; [discriminate|]. destruct (slot_of x) as [[a key]|] eqn:X; [|discriminate].
    injection H as <- <-.
    inversion Hk as [|w ? k1 ? Hw Hk1]; subst. destruct (slot_ok _ _ _ _ Hw X) as [-> [Ha E]].
    do 3 eexists; split; [reflexivity|]. split; cbn [sstack smem Check.smw]; auto. constructor; [|assumption].
    rewrite E. apply mem_word; assumption.
  - (* MSTORE *)
    destruct ss as [|x [|y r]]; [discriminate | destruct (slot_of x) as [[]|]; discriminate|].
    destruct (slot_of x) as [[a key]|] eqn:X; [|discriminate]. injection H as <- <-.
    inversion Hk as [|w ? k1 ? Hw Hk1]; subst. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst.
    destruct (slot_ok _ _ _ _ Hw X) as [-> [Ha E]].
    do 3 eexists; split; [reflexivity|]. split; cbn [sstack smem Check.smw]; auto. rewrite E. apply mem_stored; assumption.
  - (* MCOPY *)
    destruct ss as [|x [|y [|z r]]]; try discriminate; try (destruct (slot_of x) as [[]|]; try discriminate; destruct (slot_of y) as [[]|]; discriminate).
    destruct (slot_of x) as [[a to]|] eqn:X; [|discriminate]. destruct (slot_of y) as [[b from]|] eqn:Y; [|discriminate].
    destruct (exactly z) as [n|] eqn:Zn; [|discriminate]. destruct (whole n) as [c|] eqn:Wn; [|discriminate]. injection H as <- <-.
    inversion Hk as [|w ? k1 ? Hw Hk1]; subst. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst. inversion Hk2 as [|v ? k3 ? Hv Hk3]; subst.
    destruct (slot_ok _ _ _ _ Hw X) as [-> [Ha Ea]]. destruct (slot_ok _ _ _ _ Hu Y) as [-> [Hb Eb]].
    apply (exactly_ok _ _ _ Hv) in Zn. subst v. destruct (whole_ok _ _ Wn) as [_ Wk].
    do 3 eexists; split; [reflexivity|]. split; cbn [sstack smem Check.smw]; auto.
    unfold mcopy. rewrite Wk, <- numbers_bytes by apply Hm. rewrite Ea. apply stored_ok; [|exact Hm]. rewrite Eb. apply loaded_ok; exact Hm.
  - (* JUMPDEST *)
    injection H as <- <-. do 3 eexists; split; [reflexivity|]. split; cbn [sstack smem Check.smw]; auto.
Qed.

Lemma renamed_ok T f a b : tables_ok T -> renamed p T f a = Some b -> den e a == den e b.
Proof.
  intros HT H. unfold renamed in H. destruct f as [i|]; [|injection H as <-; apply cong_refl].
  destruct (M.find i (defs T)) as [d|] eqn:F; [|discriminate]. apply (defs_ok _ HT) in F.
  destruct (seqb a d) eqn:Q.
  - apply seqb_ok in Q. subst d. injection H as <-. rewrite den_one. apply cong_sym; exact F.
  - destruct (seqb (sneg p a) d) eqn:Q'; [|discriminate]. apply seqb_ok in Q'. subst d. injection H as <-.
    assert (E : e i == - den e a) by (eapply cong_trans; [exact F | apply den_sneg]).
    apply cong_opp in E. apply cong_sym. eapply cong_trans; [|eapply cong_trans; [exact E|]].
    + cbn [den]. exists (e i). ring.
    + exists 0. ring.
Qed.

Lemma named_ok T f s s' k m mw : tables_ok T -> match_ok k m mw s -> named p T f s = Some s' -> match_ok k m mw s'.
Proof.
  intros HT HM H. unfold named in H. destruct f as [i|]; [|injection H as <-; exact HM].
  destruct s as [ss sm smw hs]. cbn [sstack smem Check.smw hints] in H. destruct ss as [|[a lo hi| | | | |] r]; try discriminate.
  destruct (renamed p T (Some i) a) as [b|] eqn:N; [|discriminate]. injection H as <-.
  destruct HM as [Hk Hm Hw]. cbn [sstack smem Check.smw] in *. inversion Hk as [|w ? k1 ? Hx Hk1]; subst.
  destruct Hx as [R [B Cg]]. split; cbn [sstack smem Check.smw]; auto. constructor; [|assumption].
  split; [exact R|]. split; [exact B|]. eapply cong_trans; [exact Cg|]. eapply renamed_ok; eassumption.
Qed.

(* ---- all of it ---- *)

Hypothesis final_is : forall i, final P cd i = e i.
Hypothesis results_small : forall i, In i (results P) -> 0 <= e i < p.

Lemma fails_true c : existsb (condeqb c) (fails P) = true -> ceval c = true -> meaning P cd = Failed.
Proof.
  intros H T. apply existsb_exists in H as [c' [I E]]. apply condeqb_ok in E. subst c'.
  unfold meaning, fails in *. destruct I as [<-|I].
  - cbn in T. destruct (Z.of_nat (length cd) =? size P); [discriminate | reflexivity].
  - apply in_map_iff in I as [[i off] [<- I]]. cbn [ceval] in T. rewrite (parsed _ _ I) in T.
    replace (forallb _ (parses P)) with false; [rewrite andb_false_r; reflexivity|].
    symmetry. apply not_true_is_false. intros A. rewrite forallb_forall in A. specialize (A _ I). cbn beta iota in A.
    apply Z.ltb_lt in A. apply Z.leb_le in T. subst p. lia.
Qed.

Lemma fails_false : (forall c, In c (fails P) -> ceval c = false) ->
  meaning P cd = Returned (concat (map (fun i => bytes_of 32 (e i)) (results P))).
Proof.
  intros H. unfold meaning.
  pose proof (H _ (or_introl eq_refl)) as H0. cbn in H0. apply negb_false_iff in H0. rewrite H0. cbn [andb].
  replace (forallb _ (parses P)) with true.
  - f_equal. f_equal. apply map_ext. intros i. rewrite final_is. reflexivity.
  - symmetry. apply forallb_forall. intros [i off] I.
    assert (ceval (CNotBelow i) = false) as N by (apply H; right; apply in_map_iff; exists (i, off); auto).
    cbn [ceval] in N. rewrite (parsed _ _ I) in N. apply Z.leb_gt in N. apply Z.ltb_lt. exact N.
Qed.

Lemma checked_ok c k ss : ceval c = false -> stack_ok k ss -> stack_ok k (checked p c ss).
Proof.
  intros F H. destruct c as [| i | | | | |]; try exact H. cbn in F. apply Z.leb_gt in F. cbn [checked].
  induction H as [|w x k ss Hw _ IH]; cbn; [constructor|]. constructor; [|exact IH].
  destruct x as [| j | | | |]; try exact Hw. destruct (Pos.eqb_spec i j) as [->|]; [|exact Hw].
  destruct Hw as [R ->]. split; [exact R|]. split; [lia|]. exists 0. cbn [den]. ring.
Qed.

Lemma returns_ok T m sm l : tables_ok T -> mem_ok m sm -> forall key,
  (forall i, In i l -> 0 <= e i < p) -> returns p T sm key l = true ->
  mbytes m (32 * (Z.pos key - 1)) (32 * length l) = concat (map (fun i => bytes_of 32 (e i)) l).
Proof.
  intros HT Hm. induction l as [|i l IH]; intros key R H; [reflexivity|].
  cbn in H. destruct (M.find key sm) as [[s lo hi| | | | |]|] eqn:F; try discriminate.
  destruct (M.find i (sums T)) as [s'|] eqn:Fi; [|discriminate].
  apply andb_prop in H as [H Hr]. apply andb_prop in H as [H Hhi]. apply andb_prop in H as [Hs Hlo].
  apply Z.ltb_lt in Hhi. apply Z.leb_le in Hlo. apply seqb_ok in Hs. subst s'.
  apply (mem_words _ _ Hm) in F. destruct F as [_ [B Cg]]. apply (sums_ok _ HT) in Fi.
  cbn [map concat length]. replace (32 * Datatypes.S (length l))%nat with (32 + 32 * length l)%nat by lia.
  rewrite mbytes_app. f_equal.
  - rewrite mload_bytes by apply Hm. f_equal. apply (cong_eq p); [lia | apply R; left; reflexivity|].
    eapply cong_trans; [exact Cg | apply cong_sym; exact Fi].
  - rewrite <- (IH (Pos.succ key)); [|intros j J; apply R; right; exact J | exact Hr].
    f_equal. lia.
Qed.

Lemma failing_ok d k m mw g : failing code d = true -> Z.of_nat (length k) <= 1024 ->
  Eval code cd (State k m mw (Z.to_nat d) g) Failed.
Proof.
  intros H L. unfold failing in H. apply andb_prop in H as [_ H].
  destruct (decode (skipn (Z.to_nat d) code)) as [i n] eqn:D. destruct i; try discriminate.
  destruct (decode (skipn n (skipn (Z.to_nat d) code))) as [i n'] eqn:D'. destruct i; try discriminate.
  rewrite skipn_skipn' in D'.
  destruct (g <? 1) eqn:G.
  - apply Eval_halt. unfold step. cbn [pc stack mem mwords gas]. rewrite D. cbn. rewrite G. reflexivity.
  - eapply Eval_step.
    + unfold step. cbn [pc stack mem mwords gas]. rewrite D. cbn. rewrite G.
      destruct (Z.ltb_spec 1024 (Z.of_nat (length k))); [lia|]. reflexivity.
    + apply Eval_halt. unfold step. cbn [pc stack mem mwords gas]. rewrite D'. cbn.
      destruct (_ <? 0); reflexivity.
Qed.

Lemma stack_length k ss : stack_ok k ss -> length k = length ss.
Proof. induction 1; cbn; congruence. Qed.

Lemma checked_length c ss : length (checked p c ss) = length ss.
Proof. destruct c; cbn; auto. apply map_length. Qed.

Lemma run_ok fuel : forall T pc done names s g k m mw gas,
  tables_ok T -> match_ok k m mw s -> (forall c, In c done -> ceval c = false) ->
  run p code P fuel T (skipn pc code) done names s = Some g -> g <= gas ->
  0 <= g /\ Eval code cd (State k m mw pc gas) (meaning P cd).
Proof.
  induction fuel as [|fuel IH]; intros T pc done names s g k m mw gas HT HM HD H G; [discriminate|].
  cbn [run] in H. destruct (decode (skipn pc code)) as [i n] eqn:D.
  assert (plain :
    match sinstr p T (parses P) i s with
    | Some (cost, s) =>
        let '(f, names) := if arithmetic i then match names with f :: r => (f, r) | [] => (None, []) end
                           else (None, names) in
        match named p T f s with
        | Some s =>
            if (0 <=? cost) && within (sstack s) then
              match run p code P fuel T (skipn n (skipn pc code)) done names s with Some g => Some (cost + g) | None => None end
            else None
        | None => None
        end
    | None => None
    end = Some g -> 0 <= g /\ Eval code cd (State k m mw pc gas) (meaning P cd)).
  { clear H. intros H. destruct (sinstr p T (parses P) i s) as [[cost s1]|] eqn:X; [|discriminate].
    match type of H with (let '(_, _) := ?x in _) = _ => destruct x as [f names'] end.
    destruct (named p T f s1) as [s'|] eqn:Nm; [|discriminate].
    destruct (Z.leb_spec 0 cost); [|discriminate]. destruct (within (sstack s')) eqn:Wi; [|discriminate]. cbn [andb] in H.
    destruct (run p code P fuel T (skipn n (skipn pc code)) done names' s') as [g'|] eqn:R; [|discriminate].
    assert (Hg : g = cost + g') by congruence. subst g. clear H. rewrite skipn_skipn' in R.
    destruct (sinstr_ok T i s cost s1 k m mw (pc + n)%nat HT HM X) as [k' [m' [mw' [E HM1]]]].
    pose proof (named_ok _ _ _ _ _ _ _ HT HM1 Nm) as HM'.
    destruct (IH T (pc + n)%nat done names' s' g' k' m' mw' (gas - cost) HT HM' HD R) as [G0 Ev]; [lia|].
    split; [lia|]. eapply Eval_step; [|exact Ev]. unfold step. cbn [Evm.pc Evm.stack Evm.mem Evm.mwords Evm.gas].
    rewrite D, E. destruct (Z.ltb_spec gas cost); [lia|].
    rewrite (stack_length _ _ (ms_stack _ _ _ _ HM')). apply Z.leb_le in Wi.
    destruct (Z.ltb_spec 1024 (Z.of_nat (length (sstack s')))); [lia|]. reflexivity. }
  destruct i; try (apply plain; exact H).
  - (* JUMPI *)
    clear plain. destruct s as [ss sm smw hs]. cbn [sstack smem Check.smw hints] in *.
    destruct ss as [|d [|[s lo hi| i | |c| |] r]]; try (cbn in H; discriminate).
    destruct (exactly d) as [dv|] eqn:X; [|discriminate].
    destruct (failing code dv) eqn:Fd; [|discriminate]. destruct (existsb (condeqb c) (fails P)) eqn:Fc; [|discriminate].
    destruct (within r) eqn:Wi; [|discriminate]. cbn [andb] in H.
    destruct (run _ _ _ fuel T _ _ _ _) as [g'|] eqn:R; [|discriminate].
    assert (Hg : g = 10 + g') by congruence. subst g. clear H.
    rewrite skipn_skipn' in R. destruct HM as [Hk Hm ->]. cbn [sstack smem Check.smw] in *.
    inversion Hk as [|w ? k1 ? Hw Hk1]; subst. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst.
    apply (exactly_ok _ _ _ Hw) in X. subst w. destruct Hu as [_ ->].
    apply Z.leb_le in Wi. pose proof (stack_length _ _ Hk2) as Len.
    assert (Vd : valid code dv = true).
    { unfold failing in Fd. apply andb_prop in Fd as [Fd _]. apply andb_prop in Fd as [_ Fd]. exact Fd. }
    destruct (ceval c) eqn:Ec.
    + (* the jump is taken *)
      assert (forall gas', Eval code cd (State k2 m smw (Z.to_nat dv) gas') (meaning P cd)) as Bad.
      { intros gas'. rewrite (fails_true c Fc Ec). apply failing_ok; [exact Fd | lia]. }
      pose proof (run_nonneg _ _ _ _ _ _ _ _ _ _ R) as G0.
      split; [lia|]. eapply Eval_step; [|apply Bad]. unfold step. cbn [Evm.pc Evm.stack Evm.mem Evm.mwords Evm.gas].
      rewrite D. cbn [exec b2z Z.eqb]. rewrite Vd.
      destruct (Z.ltb_spec gas 10); [lia|]. destruct (Z.ltb_spec 1024 (Z.of_nat (length k2))); [lia|]. reflexivity.
    + (* it is not *)
      destruct (IH T (pc + n)%nat (c :: done) names (S (checked p c r) sm smw hs) g' k2 m smw (gas - 10)) as [G0 Ev]; auto.
      * split; cbn [sstack smem Check.smw]; auto. apply checked_ok; assumption.
      * intros c' [<-|I]; auto.
      * lia.
      * split; [lia|]. eapply Eval_step; [|exact Ev]. unfold step. cbn [Evm.pc Evm.stack Evm.mem Evm.mwords Evm.gas].
        rewrite D. cbn [exec b2z Z.eqb].
        destruct (Z.ltb_spec gas 10); [lia|]. destruct (Z.ltb_spec 1024 (Z.of_nat (length k2))); [lia|]. reflexivity.
  - (* RETURN *)
    clear plain. destruct s as [ss sm smw hs]. cbn [sstack smem Check.smw hints] in *.
    destruct ss as [|x [|y r]]; try (cbn in H; discriminate).
    destruct (slot_of x) as [[a key]|] eqn:X; [|discriminate]. destruct (exactly y) as [v|] eqn:Y; [|discriminate].
    destruct (Z.eqb_spec v (32 * Z.of_nat (length (results P)))) as [Ev|]; [|discriminate].
    destruct (returns p T sm key (results P)) eqn:Rt; [|discriminate]. cbn [andb] in H.
    destruct (forallb _ (fails P)) eqn:Fa; [|discriminate]. cbn [andb] in H.
    destruct (0 <=? _) eqn:Cost; [|discriminate]. injection H as <-. apply Z.leb_le in Cost. split; [exact Cost|].
    destruct HM as [Hk Hm ->]. cbn [sstack smem Check.smw] in *.
    inversion Hk as [|w ? k1 ? Hw Hk1]; subst. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst.
    destruct (slot_ok _ _ _ _ Hw X) as [-> [Ha E]]. apply (exactly_ok _ _ _ Hu) in Y. subst u.
    rewrite fails_false.
    + apply Eval_halt. unfold step. cbn [Evm.pc Evm.stack Evm.mem Evm.mwords Evm.gas]. rewrite D. cbn [exec].
      destruct (Z.ltb_spec gas (cmem (grown smw a (32 * Z.of_nat (length (results P)))) - cmem smw)); [lia|].
      f_equal. f_equal. replace (Z.to_nat (32 * Z.of_nat (length (results P)))) with (32 * length (results P))%nat by lia.
      rewrite E. eapply returns_ok; eassumption.
    + intros c I. rewrite forallb_forall in Fa. specialize (Fa _ I). apply existsb_exists in Fa as [c' [I' Q]].
      apply condeqb_ok in Q. subst c'. apply HD; exact I'.
Qed.
End Run.

(* Values of a program whose numbers ascend. *)
Lemma ascending_ok P cd least : parses_ascend 2 (parses P) = Some least -> ascends least (ops P) = true ->
  let e := final P cd in
  e 1%positive = 1 /\ (forall i off, In (i, off) (parses P) -> e i = cdword cd off) /\
  Forall (holds (modulus P) e) (ops P) /\ tables_ok P e (start_tables P).
Proof.
  intros Pa As e. pose proof (parses_ascend_le _ _ _ Pa) as Le.
  assert (one : e 1%positive = 1).
  { unfold e, final. rewrite (eval_ops_below _ _ _ _ _ As) by lia. unfold first.
    rewrite (eval_parses_below _ _ _ _ _ _ Pa) by lia. reflexivity. }
  assert (parsed : forall i off, In (i, off) (parses P) -> e i = cdword cd off).
  { intros i off I. destruct (eval_parses_ok cd _ _ _ (fun i => if Pos.eqb i 1 then 1 else 0) _ _ Pa I) as [E L].
    unfold e, final. rewrite (eval_ops_below _ _ _ _ _ As) by exact L. exact E. }
  pose proof (eval_ops_holds (modulus P) (ops P) least (first P cd) As) as Holds. fold (final P cd) in Holds. fold e in Holds.
  split; [exact one|]. split; [exact parsed|]. split; [exact Holds|].
  unfold start_tables. split; cbn [sums products defs].
  - assert (G0 : forall l m, (forall i s, PositiveMap.find i m = Some s -> cong (modulus P) (e i) (den e s)) ->
      forall i s, PositiveMap.find i (fold_left (fun m '(i, _) => PositiveMap.add i [(i, 1)] m) (l : list (positive * Z)) m) = Some s ->
      cong (modulus P) (e i) (den e s)).
    { induction l as [|[j off] l IH]; intros m Hm; [exact Hm|]. cbn. apply IH. intros i s.
      rewrite find_add. destruct (Pos.eqb_spec i j) as [->|_]; [|apply Hm].
      intros E; injection E as <-. exists 0. cbn [den]. ring. }
    apply G0. intros i s E. rewrite PositiveMap.gempty in E. discriminate.
  - intros i a b E. rewrite PositiveMap.gempty in E. discriminate.
  - intros i a E. rewrite PositiveMap.gempty in E. discriminate.
Qed.

(* A program that is well formed: its values, and what its tables say of them. *)
Lemma prepared_ok P w T cd : prepared P w = Some T ->
  let e := final P cd in
  1 < modulus P < W /\ e 1%positive = 1 /\ (forall i off, In (i, off) (parses P) -> e i = cdword cd off) /\
  tables_ok P e T /\ (forall i, In i (results P) -> 0 <= e i < modulus P).
Proof.
  intros H e. unfold prepared in H.
  destruct (Z.ltb_spec 1 (modulus P)); [|discriminate]. destruct (Z.ltb_spec (modulus P) W); [|discriminate].
  destruct (forallb _ (results P)) eqn:Rs; [|discriminate]. cbn [andb] in H.
  destruct (parses_ascend 2 (parses P)) as [least|] eqn:Pa; [|discriminate].
  destruct (ascends least (ops P)) eqn:As; [|discriminate]. rename H into AT.
  destruct (ascending_ok P cd least Pa As) as [one [parsed [Holds T0]]]. fold e in one, parsed, Holds, T0.
  split; [lia|]. split; [exact one|]. split; [exact parsed|]. split; [eapply add_ops_ok; eauto; lia|].
  intros i I. rewrite forallb_forall in Rs. specialize (Rs _ I). apply existsb_exists in Rs as [o [Io Eo]].
  apply Pos.eqb_eq in Eo. subst i. rewrite Forall_forall in Holds. rewrite (Holds _ Io).
  destruct (what o); cbn; apply Z.mod_pos_bound; lia.
Qed.

(* Nothing has been written: memory is zeros. *)
Lemma zeros_ok P cd e : mem_ok P cd e (fun _ => 0) (PositiveMap.empty sword).
Proof.
  split; [intros x; unfold is_byte; lia | |]; intros key; rewrite PositiveMap.gempty; [discriminate | reflexivity].
Qed.

(* The code ends as the program means, whatever calldata is, with any gas from g0 on. *)
Theorem check_sound P w code g0 : check P w code = Some g0 ->
  forall cd, Forall is_byte cd -> Z.of_nat (length cd) < W ->
  forall g, g0 <= g -> Eval code cd (start g) (meaning P cd).
Proof.
  unfold check. intros H cd Hcd Len g G. destruct (prepared P w) as [T|] eqn:Pr; [|discriminate].
  destruct (prepared_ok P w T cd Pr) as [[p1 pW] [one [parsed [T1 small]]]].
  refine (proj2 (run_ok P cd Hcd Len code p1 (final P cd) one parsed _ small (length code) T 0%nat [] _ _ g0 [] (fun _ => 0) 0 g T1 _ _ H G)).
  - reflexivity.
  - split; cbn [sstack smem Check.smw]; [constructor | apply zeros_ok | reflexivity].
  - intros c [].
Qed.

Print Assumptions check_sound.
