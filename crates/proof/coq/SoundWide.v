(* The checker of programs whose modulus is no word is sound: `check_wide_sound`. *)
From Coq Require Import ZArith List Bool Lia FMapPositive.
From Residue Require Import Evm Words Program Check Sums Sound Slots CheckSlots Copies SoundSlots Flow CheckFlow SoundFlow CheckFlowSlots
  SoundFlowSlots Limbs CheckWide.
Import ListNotations.
Open Scope Z_scope.

(* Memory before anything is written. *)
Definition zeros : memory := fun _ => 0.

(* Instructions that neither read nor write memory do the same whatever it is. *)
Definition apart (i : instr) : Prop := match i with MLOAD | MSTORE | MCOPY => False | _ => True end.
Lemma exec_apart code cd i next k m0 m mw c k' m' mw' after : apart i ->
  exec code cd i next k m0 mw = (c, Go k' m' mw' after) -> m' = m0 /\ mw' = mw /\ exec code cd i next k m mw = (c, Go k' m mw after).
Proof.
  intros A H. destruct i; try destruct A; cbn [exec] in H |- *; set (w := W) in *; clearbody w;
    destruct k as [|a [|b [|d k]]];
    repeat match type of H with (_, match ?t with _ => _ end) = _ => destruct t end;
    first [discriminate | injection H as <- <- <- <- <-; auto].
Qed.
Lemma fexec_apart code cd i k m0 m mw f c k' m' mw' f' :
  match i with SETMODCX | STORECX | LANES _ _ | ISZEROX _ => True | _ => False end ->
  fexec code cd i k m0 mw f = (c, Some (k', m', mw', f')) ->
  m' = m0 /\ mw' = mw /\ fexec code cd i k m mw f = (c, Some (k', m, mw, f')).
Proof.
  intros A H. destruct i; try destruct A; cbn [fexec] in H |- *.
  - destruct k as [|a [|b [|d [|n r]]]]; try discriminate.
    destruct (set_context a f _) as [c0 [g|]]; cbn [fst snd option_map] in *; [|discriminate].
    injection H as <- <- <- <- <-. repeat split; reflexivity.
  - destruct k as [|a [|b [|n r]]]; try discriminate. unfold transfer in *. destruct (now f) as [ctx|]; [|discriminate].
    destruct (n =? 0); [injection H as <- <- <- <- <-; repeat split; reflexivity|]. destruct (_ && _); [|discriminate].
    destruct (filled _ _ _ _ _) as [g|]; cbn [option_map] in *; [|discriminate].
    injection H as <- <- <- <- <-. repeat split; reflexivity.
  - destruct (lanes _ _ f) as [c0 [g|]]; cbn [fst snd option_map] in *; [|discriminate].
    injection H as <- <- <- <- <-. repeat split; reflexivity.
  - destruct (now f) as [ctx|]; [|discriminate]. destruct (_ <? _); [|discriminate].
    injection H as <- <- <- <- <-. repeat split; reflexivity.
Qed.

Section Run.
Variable P : program.
Variable cd : list Z.
Hypothesis cd_bytes : Forall is_byte cd.
Hypothesis cd_short : Z.of_nat (length cd) < W.
Variable next : bool.
Variable code : list Z.
Hypothesis code_bytes : Forall is_byte code.
Let p := modulus P.
Hypothesis p_pos : 1 < p.
Hypothesis p_odd : Z.odd p = true.
Variable e : env.
Hypothesis one : e 1%positive = 1.
Hypothesis parsed : forall i off, In (i, off) (parses P) -> e i = cdword cd off.
Hypothesis no_sign : forall i, 0 <= e i.
Variable wnames : list named_word.
Hypothesis worded : forall i o a b, In (i, (o, a, b)) wnames -> e i = named_value cd e o a b.
Variable T : tables.
Hypothesis HT : tables_ok P e T.
Let jumps := blank next O O code.

Notation "a == b" := (cong p a b) (at level 70).
Notation is_word := (is_word P cd e).
Notation ceval := (ceval P cd e).
Notation state_ok := (state_ok P cd e).
Notation truths := (truths P cd e).
Notation elem := (elem P e).

(* ---- limbs ---- *)

(* The element that a sum is. *)
Definition value (s : sum) : Z := den e s mod p.
Lemma value_range s : 0 <= value s < p. Proof. apply Z.mod_pos_bound. lia. Qed.
Lemma value_elem v s : elem v s -> v = value s.
Proof.
  intros [R C]. unfold value. destruct C as [q ->]. fold p in R |- *. rewrite <- (Z_mod_plus_full (den e s) q p). symmetry.
  apply Z.mod_small. exact R.
Qed.

Definition limb_ok (v : Z) (x : limb) : Prop :=
  0 <= v < 2 ^ 64 /\
  match x with LNum n => v = n | LCall off => v = cdnumber cd off 8 | LElem s n => v = Z.shiftr (value s) n mod 2 ^ 64 end.

Record limbs_ok (m : memory) (l : M.t limb) : Prop := {
  lm_bytes : forall x, is_byte (m x);
  lm_limbs : forall key, limb_ok (beZ (mbytes m (8 * (Z.pos key - 1)) 8)) (limb_at l key) }.

Lemma limbs_ext m m' l : (forall x, m x = m' x) -> limbs_ok m l -> limbs_ok m' l.
Proof.
  intros E [B L]. split; [intros x; rewrite <- E; apply B|]. intros key.
  rewrite (mbytes_ext m' m); [apply L | intros x _; symmetry; apply E].
Qed.

Lemma limb_put m l key v x : limbs_ok m l -> limb_ok v x -> limbs_ok (write m (8 * (Z.pos key - 1)) (bytes_of 8 v)) (M.add key x l).
Proof.
  intros [B L] Hv. set (a := 8 * (Z.pos key - 1)). split.
  - intros y. unfold write. destruct (_ && _); [|apply B]. destruct (nth_in_or_default (Z.to_nat (y - a)) (bytes_of 8 v) 0) as [I| ->].
    + pose proof (bytes_of_bytes 8 v) as F. rewrite Forall_forall in F. apply F, I.
    + unfold is_byte. lia.
  - intros k. unfold limb_at. rewrite find_add. destruct (Pos.eqb_spec k key) as [->|N].
    + fold a. assert (M0 : mbytes (write m a (bytes_of 8 v)) a 8 = bytes_of 8 v).
      { apply (nth_ext _ _ 0 0); rewrite mbytes_length, ?bytes_of_length; [reflexivity|]. intros j J. rewrite mbytes_nth by exact J.
        unfold write. rewrite bytes_of_length. rewrite (proj2 (Z.leb_le _ _)), (proj2 (Z.ltb_lt _ _)) by lia. cbn [andb]. f_equal. lia. }
      rewrite M0, beZ_bytes_of, Z.mod_small; [exact Hv | exact (proj1 Hv)].
    + fold (limb_at l k). assert (Z.pos k <> Z.pos key) by congruence.
      rewrite (mbytes_ext _ m); [apply L|]. intros y Y. unfold write. rewrite bytes_of_length.
      destruct (Z.leb_spec a y), (Z.ltb_spec y (a + Z.of_nat 8)); cbn [andb]; try reflexivity. unfold a in *. lia.
Qed.

Lemma limbs_put_ok vs xs : Forall2 limb_ok vs xs -> forall m l key, limbs_ok m l ->
  limbs_ok (write m (8 * (Z.pos key - 1)) (flat_map (bytes_of 8) vs)) (limbs_put l key xs).
Proof.
  induction 1 as [|v x vs xs Hv _ IH]; intros m l key HL; cbn [flat_map limbs_put].
  - eapply limbs_ext; [intros y; symmetry; apply (write_nil P cd) | exact HL].
  - eapply limbs_ext; [intros y; symmetry; apply write_cat|]. rewrite bytes_of_length.
    replace (8 * (Z.pos key - 1) + Z.of_nat 8) with (8 * (Z.pos (Pos.succ key) - 1)) by lia. apply IH. apply limb_put; assumption.
Qed.

Lemma limbs_at_ok m l n : limbs_ok m l -> forall key, Forall2 limb_ok (numbers m (8 * (Z.pos key - 1)) 8 n) (limbs_at l key n).
Proof.
  intros H. induction n as [|n IH]; intros key; cbn [numbers limbs_at]; constructor.
  - change (Z.to_nat 8) with 8%nat. apply H.
  - replace (8 * (Z.pos key - 1) + 8) with (8 * (Z.pos (Pos.succ key) - 1)) by lia. apply IH.
Qed.

Lemma further_pos n : forall key, Z.pos (further key n) = Z.pos key + Z.of_nat n.
Proof. induction n as [|n IH]; intros key; cbn [further]; [lia|]. rewrite IH. lia. Qed.

Lemma limb_of_ok w x a key : is_word w x -> limb_of x = Some (a, key) -> w = a /\ 0 <= a /\ a = 8 * (Z.pos key - 1).
Proof.
  intros H E. unfold limb_of in E. destruct (exactly x) as [v|] eqn:X; [|discriminate]. apply (exactly_ok _ _ _ _ _ _ H) in X.
  destruct (Z.leb_spec 0 v); [|discriminate]. destruct (v <? 2 ^ 32); [|discriminate].
  destruct (Z.eqb_spec (v mod 8) 0) as [M0|]; [|discriminate]. cbn [andb] in E.
  assert (Ea : a = v) by congruence. assert (Ek : key = Z.to_pos (v / 8 + 1)) by congruence. subst a key w.
  pose proof (Z.div_mod v 8 ltac:(lia)). assert (0 <= v / 8) by (apply Z.div_pos; lia). rewrite Z2Pos.id by lia. split; [reflexivity | lia].
Qed.

Lemma eighths_ok n k : eighths n = Some k -> n = 8 * Z.of_nat k /\ Z.to_nat n = (8 * k)%nat.
Proof.
  unfold eighths. destruct (Z.leb_spec 0 n); [|discriminate]. destruct (n <? 1048576); [|discriminate].
  destruct (Z.eqb_spec (n mod 8) 0); [|discriminate]. cbn [andb]. intros E. injection E as <-.
  pose proof (Z.div_mod n 8 ltac:(lia)). assert (0 <= n / 8) by (apply Z.div_pos; lia). split; lia.
Qed.

Lemma limbs_length vs xs : Forall2 limb_ok vs xs -> length vs = length xs.
Proof. induction 1; cbn; congruence. Qed.

Lemma numeral_ok vs xs : Forall2 limb_ok vs xs -> forall v, numeral xs = Some v -> whole_number vs = v.
Proof.
  induction 1 as [|u x vs xs Hu F IH]; intros v E; cbn [numeral] in E; [injection E as <-; reflexivity|].
  destruct x as [n| |]; try discriminate. destruct (numeral xs) as [r|]; [|discriminate]. cbn [option_map] in E. injection E as <-.
  cbn [whole_number]. rewrite (IH _ eq_refl), (limbs_length _ _ F). destruct Hu as [_ ->]. reflexivity.
Qed.

Lemma calls_ok vs xs : Forall2 limb_ok vs xs -> forall off, 0 <= off -> calls off xs = true ->
  whole_number vs = cdnumber cd off (8 * Z.of_nat (length xs)).
Proof.
  induction 1 as [|u x vs xs Hu F IH]; intros off O E; cbn [calls] in E; [reflexivity|].
  destruct x as [|o|]; try discriminate. apply andb_prop in E as [E1 E]. apply Z.eqb_eq in E1. subst o.
  cbn [whole_number length]. rewrite (IH (off + 8)), (limbs_length _ _ F) by (lia || exact E). destruct Hu as [_ ->].
  replace (8 * Z.of_nat (Datatypes.S (length xs))) with (8 + 8 * Z.of_nat (length xs)) by lia. rewrite cdnumber_cat by lia.
  replace (256 ^ (8 * Z.of_nat (length xs))) with (2 ^ (64 * Z.of_nat (length xs))); [reflexivity|].
  rewrite <- limb_pow. f_equal. lia.
Qed.

Lemma of_calldata_ok vs xs off : Forall2 limb_ok vs xs -> of_calldata xs = Some off ->
  0 <= off /\ whole_number vs = cdnumber cd off (8 * Z.of_nat (length xs)).
Proof.
  intros F E. unfold of_calldata in E. destruct xs as [|[| o |] xs]; try discriminate.
  destruct (Z.leb_spec 0 o); [|discriminate]. destruct (calls o _) eqn:C; [|discriminate]. cbn [andb] in E. injection E as <-.
  split; [assumption|]. apply calls_ok; assumption.
Qed.

Lemma parts_ok s n vs xs : 0 <= n -> Forall2 limb_ok vs xs -> parts s n xs = true ->
  whole_number vs = Z.shiftr (value s) n mod 2 ^ (64 * Z.of_nat (length xs)).
Proof.
  intros N. induction 1 as [|u x vs xs Hu F IH]; intros E; cbn [parts] in E; [cbn; rewrite Z.mod_1_r; reflexivity|].
  destruct x as [| |t m]; try discriminate. apply andb_prop in E as [E E2]. apply andb_prop in E as [E0 E1].
  apply seqb_ok in E0. apply Z.eqb_eq in E1. subst t m. cbn [whole_number length]. rewrite (IH E2), (limbs_length _ _ F).
  destruct Hu as [_ ->]. replace (64 * Z.of_nat (Datatypes.S (length xs))) with (64 + 64 * Z.of_nat (length xs)) by lia.
  rewrite <- limb_above, Z.shiftr_shiftr by lia. reflexivity.
Qed.

Lemma of_element_ok vs xs s n : Forall2 limb_ok vs xs -> of_element xs = Some (s, n) ->
  whole_number vs = Z.shiftr (value s) n mod 2 ^ (64 * Z.of_nat (length xs)).
Proof.
  intros F E. unfold of_element in E. destruct xs as [|[| | t m] xs]; try discriminate. cbv zeta in E.
  destruct (Z.leb_spec 0 (m - 64 * Z.of_nat (length xs))); [|discriminate]. destruct (parts t _ _) eqn:C; [|discriminate].
  cbn [andb] in E. injection E as <- <-. apply parts_ok; assumption.
Qed.

Lemma element_limbs_ok s n : Forall2 limb_ok (limbs_of n (value s)) (element_limbs s n).
Proof.
  induction n as [|n IH]; cbn [limbs_of element_limbs]; constructor; [|exact IH].
  split; [apply Z.mod_pos_bound; reflexivity | reflexivity].
Qed.

Lemma call_limbs_ok n : forall from, 0 <= from -> Forall2 limb_ok (pieces 8 n (skipn (Z.to_nat from) cd)) (call_limbs from n).
Proof.
  induction n as [|n IH]; intros from O; cbn [pieces call_limbs]; constructor.
  - pose proof (cdnumber_range cd from 8 cd_bytes) as R. split; [exact R | reflexivity].
  - rewrite skipn_skipn'. replace (Z.to_nat from + 8)%nat with (Z.to_nat (from + 8)) by lia. apply IH. lia.
Qed.

Lemma number_limbs_ok n : forall l, Forall is_byte l -> Forall2 limb_ok (pieces 8 n l) (map LNum (pieces 8 n l)).
Proof.
  induction n as [|n IH]; intros l H; cbn [pieces map]; constructor; [|apply IH, skipn_Forall; exact H].
  pose proof (beZ_range _ (take_bytes 8 _ H)) as R. rewrite take_length in R. split; [exact R | reflexivity].
Qed.

(* The limb that an address within it belongs to. *)
Lemma limb_start a : 0 <= a -> 8 * (Z.pos (Z.to_pos (a / 8 + 1)) - 1) = a - a mod 8.
Proof. intros A. pose proof (Z.div_mod a 8 ltac:(lia)). assert (0 <= a / 8) by (apply Z.div_pos; lia). rewrite Z2Pos.id by lia. lia. Qed.

Lemma number_at_ok m l a n v : limbs_ok m l -> 0 <= a -> 0 <= n -> number_at l a n = Some v -> beZ (mbytes m a (Z.to_nat n)) = v.
Proof.
  intros HL A N H. unfold number_at in H. cbv zeta in H. set (low := a mod 8) in *. set (c := (low + n + 7) / 8) in *.
  destruct (numeral _) as [w|] eqn:E; [|discriminate].
  assert (V : v = w / 256 ^ (8 * c - low - n) mod 256 ^ n) by (cbn [option_map] in H; congruence). clear H. rewrite V. clear V.
  apply (numeral_ok _ _ (limbs_at_ok m l _ HL _)) in E. rewrite limb_start in E by exact A. fold low in E. rewrite <- mbytes_number in E.
  pose proof (Z.mod_pos_bound a 8 ltac:(lia)) as L. fold low in L.
  pose proof (Z.div_mod (low + n + 7) 8 ltac:(lia)) as D. pose proof (Z.mod_pos_bound (low + n + 7) 8 ltac:(lia)). fold c in D.
  set (after := Z.to_nat (8 * c - low - n)). replace (8 * Z.to_nat c)%nat with (Z.to_nat low + (Z.to_nat n + after))%nat in E by (unfold after; lia).
  rewrite !mbytes_app, !beZ_cat, app_length, !mbytes_length in E. replace (a - low + Z.of_nat (Z.to_nat low)) with a in E by lia.
  set (x := beZ (mbytes m a (Z.to_nat n))) in *. subst w.
  replace (8 * c - low - n) with (Z.of_nat after) by (unfold after; lia).
  pose proof (beZ_range _ (mbytes_bytes m (a + Z.of_nat (Z.to_nat n)) after (lm_bytes _ _ HL))) as R1. rewrite mbytes_length in R1.
  pose proof (beZ_range _ (mbytes_bytes m a (Z.to_nat n) (lm_bytes _ _ HL))) as R2. rewrite mbytes_length in R2. fold x in R2.
  pose proof (pow256_pos after). rewrite Nat2Z.inj_add, Z.pow_add_r by lia. rewrite Z2Nat.id in * by exact N.
  match goal with |- x = (?b * _ + (_ + ?r)) / ?q mod ?s => replace (b * (s * q) + (x * q + r)) with ((b * s + x) * q + r) by ring end.
  rewrite Z.div_add_l, (Z.div_small _ (256 ^ Z.of_nat after)), Z.add_0_r by lia.
  rewrite Z.add_comm, Z.mod_add by (apply Z.pow_nonzero; lia). symmetry. apply Z.mod_small. exact R2.
Qed.

(* ---- words and elements ---- *)

Lemma first_wide_ok ok i off more : first_wide wnames ok = Some (i, off, more) ->
  ok i off more = true /\ 0 <= off /\ 0 <= more /\ e i = cdnumber cd off (32 + more).
Proof.
  unfold first_wide. destruct (find _ wnames) as [w|] eqn:F; [|discriminate]. intros E. apply find_some in F as [I F].
  rewrite E in F. split; [exact F|]. unfold wide_number in E. destruct w as [i' [[o a] b]].
  destruct o; try discriminate. destruct a as [o| | |]; try discriminate. destruct b as [n| | |]; try discriminate.
  destruct (Z.leb_spec 0 o); [|discriminate]. destruct (Z.leb_spec 0 n); [|discriminate]. cbn [andb] in E. injection E as <- <- <-.
  split; [assumption|]. split; [assumption|]. apply worded in I. exact I.
Qed.

Lemma cdword_number off : cdword cd off = cdnumber cd off 32. Proof. reflexivity. Qed.

Lemma calldata_word_ok off w : calldata_word P wnames off = Some w -> is_word (cdword cd off) w.
Proof.
  unfold calldata_word. intros H. pose proof (cdword_range cd off cd_bytes) as R.
  destruct (first_wide wnames _) as [[[i o] more]|] eqn:F.
  - apply first_wide_ok in F as [B [O [N E]]]. apply andb_prop in B as [B1 B2]. apply Z.eqb_eq in B1. subst o. injection H as <-.
    assert (V : cdword cd off = Z.shiftr (all_bits e [i]) (8 * more)); [|split; [exact R | exact V]].
    change (all_bits e [i]) with (Z.lor (e i) 0). rewrite Z.lor_0_r, E, cdnumber_cat, <- cdword_number by lia.
    pose proof (cdnumber_range cd (off + 32) more cd_bytes) as L. rewrite Z2Nat.id in L by lia.
    rewrite Z.shiftr_div_pow2, Z.pow_mul_r by lia. change (2 ^ 8) with 256. assert (0 < 256 ^ more) by (apply Z.pow_pos_nonneg; lia).
    rewrite Z.div_add_l, Z.div_small by lia. lia.
  - destruct (find_read (parses P) off) as [r|] eqn:Q; [|discriminate]. injection H as <-. split; [exact R|].
    unfold find_read in Q. destruct (find _ (parses P)) as [[i o]|] eqn:Fd; [|discriminate]. injection Q as <-.
    apply find_some in Fd as [I Q]. apply Z.eqb_eq in Q. subst o. symmetry. apply parsed. exact I.
Qed.

Lemma word_of_limbs_ok m l key w : limbs_ok m l -> word_of_limbs p P wnames (limbs_at l key 4) = Some w ->
  is_word (mload m (8 * (Z.pos key - 1))) w.
Proof.
  intros HL H. pose proof (limbs_at_ok m l 4 HL key) as F. pose proof (mload_range m (8 * (Z.pos key - 1)) (lm_bytes _ _ HL)) as R.
  assert (V : mload m (8 * (Z.pos key - 1)) = whole_number (numbers m (8 * (Z.pos key - 1)) 8 4)) by apply (mbytes_number m 4).
  unfold word_of_limbs in H. destruct (numeral _) as [v|] eqn:N.
  { injection H as <-. apply (numeral_ok _ _ F) in N. rewrite <- V in N. subst v. split; [exact R|]. split; [lia|].
    apply cong_sym, den_const; assumption. }
  destruct (of_calldata _) as [off|] eqn:C.
  { apply (of_calldata_ok _ _ _ F) in C as [_ C]. rewrite V, C. change (is_word (cdword cd off) w). apply calldata_word_ok; exact H. }
  destruct (of_element _) as [[s n]|] eqn:E; [|discriminate]. injection H as <-. apply (of_element_ok _ _ _ _ F) in E.
  split; [exact R|]. unfold all_parts. cbn [fold_right]. rewrite Z.lor_0_r, V, E. reflexivity.
Qed.

Lemma wide_element_ok F m l a size s conds : truths F -> limbs_ok m l -> 0 <= a -> wide_element p wnames F l a size = Some (s, conds) ->
  let v := beZ (mbytes m a (8 * size)) in
  (v < p /\ elem v s /\ forall c, In c conds -> ceval c = false) \/ (p <= v /\ exists c, In c conds /\ ceval c = true).
Proof.
  intros HF HL A H v. unfold wide_element in H. cbv zeta in H. set (n := 8 * Z.of_nat size) in *. assert (N0 : 0 <= n) by (unfold n; lia).
  assert (V0 : 0 <= v) by (unfold v; apply beZ_range, mbytes_bytes, HL).
  destruct (number_at l a n) as [w|] eqn:N.
  { apply (number_at_ok _ _ _ _ _ HL A N0) in N. replace (Z.to_nat n) with (8 * size)%nat in N by (unfold n; lia). fold v in N. subst w.
    destruct (Z.ltb_spec v p); [|discriminate]. injection H as <- <-. left.
    split; [assumption|]. split; [|intros c []]. split; [lia|]. apply cong_sym, den_const; assumption. }
  destruct (of_calldata _) as [off|] eqn:C; [|discriminate].
  destruct (first_wide wnames _) as [[[i o] more]|] eqn:Fw; [|discriminate]. injection H as <- <-.
  apply first_wide_ok in Fw as [B [O' [N' E]]]. apply andb_prop in B as [B B2]. apply andb_prop in B as [B B1]. apply andb_prop in B as [Ba B0].
  apply Z.eqb_eq in Ba. apply Z.leb_le in B0. apply Z.eqb_eq in B1.
  pose proof (limbs_at_ok m l size HL (Z.to_pos (a / 8 + 1))) as Fl. apply (of_calldata_ok _ _ _ Fl) in C as [O C].
  rewrite <- (limbs_length _ _ Fl), numbers_length, <- mbytes_number, limb_start, Ba, Z.sub_0_r in C by exact A. fold n v in C.
  assert (V : v = e i).
  { rewrite C, E. destruct (Z.eqb_spec o off) as [->|D]; [f_equal; lia|]. cbn [orb] in B2.
    destruct (look p F (CAbove i (8 * n))) as [[]|] eqn:L0; try discriminate.
    assert (L : ceval (CAbove i (8 * n)) = false) by (eapply look_ok; eassumption). cbn [Sound.ceval] in L.
    apply Z.leb_gt in L. rewrite E in L. replace (32 + more) with ((off - o) + n) in * by lia.
    rewrite cdnumber_cat in L |- * by lia. replace (o + (off - o)) with off in * by lia.
    pose proof (cdnumber_range cd o (off - o) cd_bytes). pose proof (cdnumber_range cd off n cd_bytes).
    rewrite Z.pow_mul_r in L by lia. change (2 ^ 8) with 256 in L.
    assert (cdnumber cd o (off - o) = 0) as -> by nia. reflexivity. }
  rewrite V. pose proof (no_sign i). destruct (Z.ltb_spec (e i) p) as [B|B].
  - left. split; [exact B|]. split; [split; [lia|]; cbn [den]; exists 0; ring|]. intros c [<-|[]]. cbn. apply Z.leb_gt. exact B.
  - right. split; [exact B|]. exists (CNotBelow i). split; [left; reflexivity | cbn; apply Z.leb_le; exact B].
Qed.

Lemma wide_elements_ok F m l size n : truths F -> limbs_ok m l -> forall a sums conds, 0 <= a -> wide_elements p wnames F l a size n = Some (sums, conds) ->
  let vs := numbers m a (8 * Z.of_nat size) n in
  (forallb (fun v => v <? p) vs = true /\ Forall2 elem vs sums /\ forall c, In c conds -> ceval c = false) \/
  (forallb (fun v => v <? p) vs = false /\ exists c, In c conds /\ ceval c = true).
Proof.
  intros HF HL. induction n as [|n IH]; intros a sums conds A H; cbn [wide_elements numbers forallb] in *.
  { injection H as <- <-. left. repeat split; [constructor | intros c []]. }
  destruct (wide_element p wnames F l a size) as [[s c]|] eqn:E; [|discriminate].
  destruct (wide_elements p wnames F l _ size n) as [[sums1 conds1]|] eqn:Es; [|discriminate]. injection H as <- <-.
  apply (wide_element_ok _ _ _ _ _ _ _ HF HL A) in E. cbv zeta in E. apply IH in Es; [|lia]. cbv zeta in Es.
  replace (Z.to_nat (8 * Z.of_nat size)) with (8 * size)%nat by lia.
  destruct E as [[B [El Cs]]|[B [x [I X]]]].
  - rewrite (proj2 (Z.ltb_lt _ _) B). cbn [andb]. destruct Es as [[B' [El' Cs']]|[B' [x [I X]]]].
    + left. split; [exact B'|]. split; [constructor; assumption|]. intros x I. apply in_app_or in I as [I|I]; auto.
    + right. split; [exact B'|]. exists x. split; [apply in_or_app; right; exact I | exact X].
  - rewrite (proj2 (Z.ltb_ge _ _) B). right. split; [reflexivity|]. exists x. split; [apply in_or_app; left; exact I | exact X].
Qed.

Lemma shows_ok s vs xs : Forall2 limb_ok vs xs -> shows p s xs = true -> flat_map (bytes_of 8) vs = bytes_of (8 * length xs) (value s).
Proof.
  induction 1 as [|v x vs xs Hv _ IH]; intros E; [reflexivity|]. cbn [shows] in E. apply andb_prop in E as [E Er].
  cbn [length flat_map]. replace (8 * Datatypes.S (length xs))%nat with (8 + 8 * length xs)%nat by lia.
  rewrite bytes_of_cat, limb_pow, <- (IH Er). f_equal. set (low := 64 * Z.of_nat (length xs)) in *. destruct Hv as [Rv Hv].
  pose proof (value_range s) as R. assert (L0 : 0 <= low) by (unfold low; lia).
  destruct x as [z|off|t n]; try discriminate.
  - apply andb_prop in E as [E0 E1]. apply Z.eqb_eq in E0. apply Z.leb_le in E1. rewrite Hv, E0, Z.div_small by lia. reflexivity.
  - apply andb_prop in E as [E0 E1]. apply seqb_ok in E0. apply Z.eqb_eq in E1. subst t n. rewrite Hv, Z.shiftr_div_pow2 by lia.
    apply (bytes_of_mod 8).
Qed.

Lemma wide_returns_ok m l size is : limbs_ok m l -> forall key, (forall i, In i is -> 0 <= e i < p) -> wide_returns p T l key size is = true ->
  mbytes m (8 * (Z.pos key - 1)) (8 * size * length is) = concat (map (fun i => bytes_of (8 * size) (e i)) is).
Proof.
  intros HL. induction is as [|i is IH]; intros key R H; [rewrite Nat.mul_0_r; reflexivity|]. cbn [wide_returns] in H.
  destruct (M.find i (sums T)) as [s|] eqn:Fi; [|discriminate]. apply andb_prop in H as [H Hr]. apply (sums_ok _ _ _ HT) in Fi.
  cbn [map concat length]. rewrite Nat.mul_succ_r, Nat.add_comm, mbytes_app. f_equal.
  - rewrite mbytes_limbs by apply HL. pose proof (limbs_at_ok m l size HL key) as F. rewrite (shows_ok _ _ _ F H).
    rewrite <- (limbs_length _ _ F), numbers_length. f_equal. symmetry. apply value_elem. split; [apply R; left; reflexivity | exact Fi].
  - rewrite <- (IH (further key size)); [|intros j J; apply R; right; exact J | exact Hr]. f_equal. rewrite further_pos. lia.
Qed.

(* ---- an instruction ---- *)

Record wstate_ok (k : list Z) (m : memory) (mw : Z) (f : fields) (st : wstate) : Prop := {
  wo_flat : state_ok k zeros mw f (flat st);
  wo_limbs : limbs_ok m (limbs st) }.

Lemma moved_on st k k' m m' mw mw' f r l hs : wstate_ok k m mw f st -> stack_ok P cd e k' r -> limbs_ok m' l -> mw' = smw (base (flat st)) ->
  forall x, wstate_ok k' m' x f (WS (FS (S r (smem (base (flat st))) x hs) (known (flat st)) (failures (flat st)) (fnames (flat st))) l).
Proof.
  intros [[[_ Hm _] HF HC] _] Hk HL _ x. split; cbn [flat limbs]; [|exact HL].
  split; cbn [base known failures]; [split; cbn [sstack smem Check.smw]; auto | exact HF | exact HC].
Qed.

Lemma wplain_ok i st cost st' k m mw f after : wstate_ok k m mw f st -> wplain p P wnames T i st = Some (cost, st') ->
  exists c k' m' mw', exec jumps cd i after k m mw = (c, Go k' m' mw' after) /\
    cost = c + beside (reserved f) mw mw' /\ wstate_ok k' m' mw' f st'.
Proof.
  intros HS H. pose proof HS as [HFl HL]. pose proof HFl as [[Hk Hm Hw] HF HC].
  assert (B : forall a, a = a + beside (reserved f) mw mw) by (intros a; unfold beside, growth; lia).
  assert (plain : apart i -> match splain p P T i (over_base (flat st) (widened i (base (flat st)))) with
    | Some (cost, fs) => Some (cost, WS fs (limbs st))
    | None =>
        match word_step p wnames (fun x => x) i (base (flat st)) with
        | Some (cost, s) => Some (cost, WS (over_base (flat st) s) (limbs st))
        | None => None
        end
    end = Some (cost, st') -> exists c k' m' mw', exec jumps cd i after k m mw = (c, Go k' m' mw' after) /\
      cost = c + beside (reserved f) mw mw' /\ wstate_ok k' m' mw' f st').
  { clear H. intros A H. destruct (splain p P T i _) as [[c1 fs]|] eqn:X.
    - injection H as <- <-. assert (HS' : state_ok k zeros mw f (over_base (flat st) (widened i (base (flat st))))).
      { split; cbn [over_base base known failures]; [|exact HF | exact HC]. apply widened_ok. apply HFl. }
      destruct (splain_ok P cd cd_bytes cd_short next code p_pos e one parsed T i _ _ _ _ _ _ _ after HT HS' X)
        as [c [k' [m' [mw' [E [-> HS1]]]]]].
      fold jumps in E. destruct (exec_apart _ _ _ _ _ _ m _ _ _ _ _ _ A E) as [-> [-> E']].
      exists c, k', m, mw. split; [exact E'|]. split; [reflexivity|]. split; cbn [flat limbs]; assumption.
    - destruct (word_step p wnames (fun x => x) i (base (flat st))) as [[c1 s1]|] eqn:Ws; [|discriminate]. injection H as <- <-.
      assert (exists k', exec jumps cd i after k zeros mw = (c1, Go k' zeros mw after) /\ match_ok P cd e k' zeros mw s1) as [k' [E HM']].
      { eapply word_step_ok; eauto; [intros ? ? Q; exact Q | apply HFl]. }
      destruct (exec_apart _ _ _ _ _ _ m _ _ _ _ _ _ A E) as [_ [_ E']].
      exists c1, k', m, mw. split; [exact E'|]. split; [apply B|]. split; cbn [flat limbs]; [|exact HL].
      split; cbn [over_base base known failures]; assumption. }
  destruct i; try (apply plain; [exact I | exact H]); clear plain; cbn [wplain] in H; cbv zeta in H.
  - (* MLOAD *)
    destruct (sstack (base (flat st))) as [|x r]; [discriminate|]. destruct (limb_of x) as [[a key]|] eqn:X; [|discriminate].
    destruct (word_of_limbs _ _ _ _) as [w|] eqn:Wd; [|discriminate]. injection H as <- <-.
    inversion Hk as [|u ? k1 ? Hu Hk1]; subst k. destruct (limb_of_ok _ _ _ _ Hu X) as [-> [_ E]].
    exists (3 + (cmem (grown mw a 32) - cmem mw)), (mload m a :: k1), m, (grown mw a 32). split; [reflexivity|].
    rewrite (reserved_ok _ _ _ _ HF), Hw. split; [reflexivity|]. eapply moved_on; [exact HS | | exact HL | reflexivity].
    constructor; [|exact Hk1]. rewrite E. apply word_of_limbs_ok with (l := limbs st); assumption.
  - (* MSTORE *)
    destruct (sstack (base (flat st))) as [|x [|y r]]; try discriminate. destruct (limb_of x) as [[a key]|] eqn:X; [|discriminate].
    destruct (exactly y) as [v|] eqn:Y; [|discriminate].
    pose proof (number_limbs_ok 4 _ (bytes_of_bytes 32 v)) as Ls. remember (map LNum (pieces 8 4 (bytes_of 32 v))) as ls. clear Heqls.
    injection H as <- <-. inversion Hk as [|u ? k1 ? Hu Hk1]; subst k. inversion Hk1 as [|u2 ? k2 ? Hv Hk2]; subst k1.
    destruct (limb_of_ok _ _ _ _ Hu X) as [-> [_ E]]. apply (exactly_ok _ _ _ _ _ _ Hv) in Y. subst u2.
    exists (3 + (cmem (grown mw a 32) - cmem mw)), k2, (mstore m a v), (grown mw a 32). split; [reflexivity|].
    rewrite (reserved_ok _ _ _ _ HF), Hw. split; [reflexivity|]. eapply moved_on; [exact HS | exact Hk2 | | reflexivity].
    eapply limbs_ext; [|apply limbs_put_ok; [exact Ls | exact HL]].
    intros z. rewrite <- pieces_bytes by apply bytes_of_bytes. rewrite <- E. change (8 * 4)%nat with 32%nat.
    assert (Tk : forall l, take (length l) l = l) by (induction l; cbn; congruence).
    rewrite <- (bytes_of_length 32 v) at 1. rewrite Tk. rewrite mstore_nth. unfold write. rewrite bytes_of_length. reflexivity.
  - discriminate.
Qed.

Definition wgoes (i : finstr) (k : list Z) (m : memory) (mw : Z) (f : fields) (cost : Z) (st : wstate) : Prop :=
  exists k' m' mw' f', fexec code cd i k m mw f = (cost, Some (k', m', mw', f')) /\ wstate_ok k' m' mw' f' st.

Lemma flatly_ok i st cost fs k m mw f : match i with SETMODCX | STORECX | LANES _ _ | ISZEROX _ => True | _ => False end ->
  wstate_ok k m mw f st -> goes P cd code e i k zeros mw f cost fs -> wgoes i k m mw f cost (WS fs (limbs st)).
Proof.
  intros A [_ HL] [k' [m' [mw' [f' [E HS1]]]]]. destruct (fexec_apart _ _ _ _ _ m _ _ _ _ _ _ _ A E) as [-> [-> E']].
  exists k', m, mw, f'. split; [exact E'|]. split; assumption.
Qed.

Lemma now_here id w l : now (Fields [(id, Context p w l)] (Some id)) = Some (Context p w l).
Proof. apply now_ok. Qed.
Lemma put_here id w l l' : put (Context p w l) l' (Fields [(id, Context p w l)] (Some id)) = Fields [(id, Context p w l')] (Some id).
Proof. apply put_ok. Qed.

Lemma wide_setmodx_ok F st cost st' l k m mw f : wstate_ok k m mw f st -> wfield p code P wnames T F SETMODX st = Some (cost, st', l) ->
  wgoes SETMODX k m mw f cost st' /\ l = [].
Proof.
  intros HS H. pose proof HS as [HFl HL]. pose proof HFl as [[Hk Hm Hw] HF HC]. unfold wfield in H. cbv zeta in H.
  destruct (sstack (base (flat st))) as [|x [|y [|z [|u r]]]]; try discriminate. destruct (known (flat st)) as [G|] eqn:K; [discriminate|].
  cbn [fields_ok] in HF. subst f.
  destruct (exactly x) as [id|] eqn:X; [|discriminate]. destruct (exactly y) as [a|] eqn:Y; [|discriminate].
  destruct (exactly z) as [size|] eqn:Zz; [|discriminate]. destruct (exactly u) as [n|] eqn:U; [|discriminate].
  destruct (between 0 id 256) eqn:B1; [|discriminate]. destruct (between 1 size 96) eqn:B2; [|discriminate].
  destruct (between 1 n 256) eqn:B3; [|discriminate]. destruct (_ * n <=? 24576) eqn:B4; [|discriminate].
  destruct (Z.leb_spec 0 a) as [A0|]; [|discriminate].
  destruct (inside _ a size) eqn:B5; [|discriminate]. destruct (3 <=? p) eqn:B6; [|discriminate]. cbn [andb] in H.
  destruct (number_at _ a size) as [v|] eqn:N; [|discriminate]. destruct (Z.eqb_spec v p) as [->|]; [|discriminate].
  destruct (opened_slots p (flat st) r _ n) as [[cost' fs]|] eqn:O; [|discriminate]. injection H as <- <- <-. split; [|reflexivity].
  inversion Hk as [|wa ? k1 ? Ha Hk1]; subst. inversion Hk1 as [|wb ? k2 ? Hb Hk2]; subst.
  inversion Hk2 as [|wc ? k3 ? Hc Hk3]; subst. inversion Hk3 as [|wd ? k4 ? Hd Hk4]; subst.
  apply (exactly_ok _ _ _ _ _ _ Ha) in X. apply (exactly_ok _ _ _ _ _ _ Hb) in Y.
  apply (exactly_ok _ _ _ _ _ _ Hc) in Zz. apply (exactly_ok _ _ _ _ _ _ Hd) in U. subst wa wb wc wd.
  apply (number_at_ok _ _ _ _ _ HL A0) in N; [|unfold between in B2; apply andb_prop in B2; lia].
  destruct (opened_ok P cd p_pos p_odd e (mbytes m a) (flat st) _ k4 r id size n (8 * ((size + 7) / 8)) zeros (smw (base (flat st))) cost' fs HFl Hk4)
    as [g [Op S']]; [exact B2 | exact B3 | reflexivity | exact B4 | exact B6 | exact N | exact O |].
  do 4 eexists. split; [|split; [exact S' | exact HL]]. cbn [fexec]. unfold set_context. rewrite B1.
  change (Slots.found id (contexts none)) with (@None context). cbv iota. rewrite B5, Op. reflexivity.
Qed.

Lemma wide_storex_ok padded F st cost st' l k m mw f : truths F -> wstate_ok k m mw f st ->
  wfield p code P wnames T F (STOREX padded) st = Some (cost, st', l) ->
  (wgoes (STOREX padded) k m mw f cost st' /\ forall c, In c l -> ceval c = false) \/
  ((exists c, fexec code cd (STOREX padded) k m mw f = (c, None)) /\ exists c, In c l /\ ceval c = true).
Proof.
  intros HF0 HS H. pose proof HS as [HFl HL]. pose proof HFl as [[Hk Hm Hw] HF HC]. unfold wfield in H. cbv zeta in H.
  destruct (sstack (base (flat st))) as [|x [|y [|z r]]]; try discriminate. destruct (known (flat st)) as [G|] eqn:K; [|discriminate].
  cbn [fields_ok] in HF. destruct HF as [id [slots [-> HG]]].
  set (bytes := match padded with Some b => b | None => width G end) in *.
  destruct (exactly x) as [first|] eqn:X; [|discriminate]. destruct (exactly y) as [a|] eqn:Y; [|discriminate].
  destruct (exactly z) as [n|] eqn:Zz; [|discriminate]. destruct (eighths bytes) as [size|] eqn:Ei; [|discriminate].
  destruct (has G first n) eqn:B1; [|discriminate]. destruct (Z.leb_spec 0 a) as [A0|]; [|discriminate].
  destruct (inside _ a (n * bytes)) eqn:B2; [|discriminate]. destruct (width G <=? bytes) eqn:B3; [|discriminate]. cbn [andb] in H.
  destruct (wide_elements _ _ _ _ _ _ _) as [[sums conds]|] eqn:El; [|discriminate].
  destruct (stored_slots p (flat st) r G first n sums []) as [[cost' fs]|] eqn:St; [|discriminate]. injection H as <- <- <-.
  inversion Hk as [|wa ? k1 ? Ha Hk1]; subst. inversion Hk1 as [|wb ? k2 ? Hb Hk2]; subst.
  inversion Hk2 as [|wc ? k3 ? Hc Hk3]; subst. apply (exactly_ok _ _ _ _ _ _ Ha) in X. apply (exactly_ok _ _ _ _ _ _ Hc) in Zz.
  apply (exactly_ok _ _ _ _ _ _ Hb) in Y. subst wa wb wc. destruct (eighths_ok _ _ Ei) as [Ec _].
  apply (wide_elements_ok _ m _ _ _ HF0 HL) in El; [|exact A0]. cbv zeta in El. rewrite <- Ec in El.
  assert (V : value_bytes padded (Context p (width G) slots) = bytes) by (destruct padded; reflexivity).
  destruct (has_ok P cd _ _ _ B1) as [N1 [N0 B4]]. destruct El as [[A [Fe Cs]]|[A Me]]; [left | right].
  - split; [|exact Cs].
    destruct (filled_ok P cd p_odd e _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ HFl Hk3 HG Fe (fun c (I : In c []) => match I with end) St (n * bytes)) as [-> S'].
    do 4 eexists. split; [|split; [exact S' | exact HL]].
    cbn [fexec]. unfold transfer. rewrite now_here, V, N0. cbn [cmodulus cbytes cslots].
    rewrite (held_length _ _ _ _ HG), B3, B4, B2. cbn [andb]. unfold filled. cbn [cmodulus cslots]. rewrite A, put_here. reflexivity.
  - split; [|exact Me]. eexists. cbn [fexec]. unfold transfer. rewrite now_here, V, N0. cbn [cmodulus cbytes cslots].
    rewrite (held_length _ _ _ _ HG), B3, B4, B2. cbn [andb]. unfold filled. cbn [cmodulus cslots]. rewrite A. reflexivity.
Qed.

Lemma wide_loadx_ok padded F st cost st' l k m mw f : wstate_ok k m mw f st ->
  wfield p code P wnames T F (LOADX padded) st = Some (cost, st', l) -> wgoes (LOADX padded) k m mw f cost st' /\ l = [].
Proof.
  intros HS H. pose proof HS as [HFl HL]. pose proof HFl as [[Hk Hm Hw] HF HC]. unfold wfield in H. cbv zeta in H.
  destruct (sstack (base (flat st))) as [|x [|y [|z r]]] eqn:SS; try discriminate. destruct (known (flat st)) as [G|] eqn:K; [|discriminate].
  pose proof HF as HF'. cbn [fields_ok] in HF. destruct HF as [id [slots [-> HG]]].
  set (bytes := match padded with Some b => b | None => width G end) in *.
  destruct (limb_of x) as [[a key]|] eqn:X; [|discriminate]. destruct (exactly y) as [first|] eqn:Y; [|discriminate].
  destruct (exactly z) as [n|] eqn:Zz; [|discriminate]. destruct (eighths bytes) as [size|] eqn:Ei; [|discriminate].
  destruct (has G first n) eqn:B1; [|discriminate]. destruct (inside _ a (n * bytes)) eqn:B2; [|discriminate].
  destruct (width G <=? bytes) eqn:B3; [|discriminate]. cbn [andb] in H. injection H as <- <- <-. split; [|reflexivity].
  inversion Hk as [|wa ? k1 ? Ha Hk1]; subst. inversion Hk1 as [|wb ? k2 ? Hb Hk2]; subst.
  inversion Hk2 as [|wc ? k3 ? Hc Hk3]; subst. apply (exactly_ok _ _ _ _ _ _ Hb) in Y. apply (exactly_ok _ _ _ _ _ _ Hc) in Zz.
  destruct (limb_of_ok _ _ _ _ Ha X) as [-> [_ E]]. subst wb wc. destruct (eighths_ok _ _ Ei) as [_ Ec].
  assert (V : value_bytes padded (Context p (width G) slots) = bytes) by (destruct padded; reflexivity).
  destruct (has_ok P cd _ _ _ B1) as [N1 [N0 B4]]. do 4 eexists. split.
  - cbn [fexec]. unfold transfer. rewrite now_here, V, N0. cbn [cmodulus cbytes cslots].
    rewrite (held_length _ _ _ _ HG), B3, B4, B2. cbn [andb]. unfold transfer_price. cbn [cmodulus]. rewrite p_odd. reflexivity.
  - split; cbn [flat limbs].
    + split; cbn [base known failures]; [split; cbn [sstack smem Check.smw]; auto | exact HF' | exact HC].
    + rewrite Ec, E. clear B1 B4. generalize (span first n). intros is.
      eapply limbs_ext; [|apply limbs_put_ok with (vs := flat_map (fun i => limbs_of size (value (slot G i))) is); [|exact HL]].
      * intros z0. f_equal. induction is as [|i is IH]; [reflexivity|]. cbn [map flat_map]. rewrite flat_map_app, IH. f_equal.
        rewrite <- limbs_of_bytes. f_equal. symmetry. apply value_elem. apply (held_ok _ _ _ _ HG i).
      * induction is as [|i is IH]; cbn [flat_map]; [constructor|]. apply Forall2_app; [apply element_limbs_ok | exact IH].
Qed.

Lemma wide_copied_ok st k r a key from n vs xs m mw f l : wstate_ok k m mw f st -> stack_ok P cd e r xs -> a = 8 * (Z.pos key - 1) ->
  (forall x, write m a (take (Z.to_nat n) (skipn (Z.to_nat from) l)) x = write m a (flat_map (bytes_of 8) vs) x) ->
  forall ls, Forall2 limb_ok vs ls -> exists m' mw',
    copied r m mw f l a from n = (fst (fst (wide_copy st xs a key n ls)), Some (r, m', mw', f)) /\
    wstate_ok r m' mw' f (snd (fst (wide_copy st xs a key n ls))).
Proof.
  intros HS Hr E Wr ls Hls. pose proof HS as [[[Hk Hm Hw] HF HC] HL]. unfold copied, wide_copy. cbv zeta. cbn [fst snd].
  rewrite (reserved_ok _ _ _ _ HF), Hw. do 2 eexists. split; [reflexivity|]. eapply moved_on; [exact HS | exact Hr | | reflexivity].
  eapply limbs_ext; [intros y; symmetry; apply Wr|]. rewrite E. apply limbs_put_ok; assumption.
Qed.

(* Limbs that a copy of the code writes. *)
Lemma filled_limbs_ok m l key n k bytes ls : limbs_ok m l -> 0 <= n -> 8 * ((n + 7) / 8) = 8 * Z.of_nat k -> Forall is_byte bytes ->
  filled_limbs l key n k bytes = Some ls -> exists vs, Forall2 limb_ok vs ls /\
  forall x, write m (8 * (Z.pos key - 1)) (take (Z.to_nat n) bytes) x = write m (8 * (Z.pos key - 1)) (flat_map (bytes_of 8) vs) x.
Proof.
  intros HL N K Hb H. set (a := 8 * (Z.pos key - 1)). pose proof (Z.div_mod (n + 7) 8 ltac:(lia)). pose proof (Z.mod_pos_bound (n + 7) 8 ltac:(lia)).
  assert (all : forall b, Forall is_byte b -> length b = (8 * k)%nat -> flat_map (bytes_of 8) (pieces 8 k b) = b).
  { intros b B L. rewrite <- pieces_bytes by exact B. rewrite <- L. clear. induction b as [|x b IH]; cbn; congruence. }
  assert (Ht : Forall is_byte (take (Z.to_nat n) bytes)) by (apply take_bytes; exact Hb). unfold filled_limbs in H. cbv zeta in H.
  destruct (8 * k - Z.to_nat n)%nat as [|r'] eqn:R.
  - injection H as <-. exists (pieces 8 k (take (Z.to_nat n) bytes)). split; [apply number_limbs_ok; exact Ht|].
    intros x. rewrite all; [reflexivity | exact Ht | rewrite take_length; lia].
  - rewrite <- R in H. set (r := (8 * k - Z.to_nat n)%nat) in *. pose proof (lm_limbs _ _ HL (further key (k - 1))) as Lk.
    destruct (limb_at l _) as [z| |]; try discriminate. injection H as <-. destruct Lk as [_ Lk].
    assert (Hr : mbytes m (a + n) r = bytes_of r z).
    { pose proof (mbytes_limbs m 1 (lm_bytes _ _ HL) (8 * (Z.pos (further key (k - 1)) - 1))) as M1. cbn [numbers flat_map] in M1.
      change (Z.to_nat 8) with 8%nat in M1. rewrite Lk, app_nil_r in M1. change (8 * 1)%nat with 8%nat in M1.
      replace 8%nat with ((8 - r) + r)%nat in M1 by lia. rewrite mbytes_app in M1.
      apply (f_equal (skipn (8 - r))) in M1. rewrite bytes_tail, skipn_app, mbytes_length, Nat.sub_diag in M1.
      rewrite skipn_all2 in M1 by (rewrite mbytes_length; lia). cbn [skipn app] in M1. rewrite <- M1. f_equal. rewrite further_pos. unfold a. lia. }
    assert (Hw : Forall is_byte (take (Z.to_nat n) bytes ++ bytes_of r z)) by (apply Forall_app; split; [exact Ht | apply bytes_of_bytes]).
    exists (pieces 8 k (take (Z.to_nat n) bytes ++ bytes_of r z)). split; [apply number_limbs_ok; exact Hw|].
    intros x. rewrite all; [|exact Hw | rewrite app_length, take_length, bytes_of_length; lia].
    apply write_more. rewrite take_length, bytes_of_length, Z2Nat.id by lia. exact Hr.
Qed.

Lemma wide_calldatacopy_ok F st cost st' l k m mw f : wstate_ok k m mw f st ->
  wfield p code P wnames T F CALLDATACOPY st = Some (cost, st', l) -> wgoes CALLDATACOPY k m mw f cost st' /\ l = [].
Proof.
  intros HS H. pose proof HS as [[[Hk Hm Hw] HF HC] HL]. unfold wfield in H. cbv zeta in H.
  destruct (sstack (base (flat st))) as [|x [|y [|z r]]]; try discriminate.
  destruct (limb_of x) as [[a key]|] eqn:X; [|discriminate]. destruct (exactly y) as [from|] eqn:Y; [|discriminate].
  destruct (exactly z) as [n|] eqn:Zz; [|discriminate]. destruct (eighths n) as [c|] eqn:Ei; [|discriminate].
  destruct (Z.leb_spec 0 from); [|discriminate]. destruct (from <? 2 ^ 32); [|discriminate]. cbn [andb] in H.
  inversion Hk as [|wa ? k1 ? Ha Hk1]; subst. inversion Hk1 as [|wb ? k2 ? Hb Hk2]; subst. inversion Hk2 as [|wc ? k3 ? Hc Hk3]; subst.
  destruct (limb_of_ok _ _ _ _ Ha X) as [-> [_ E]]. apply (exactly_ok _ _ _ _ _ _ Hb) in Y. apply (exactly_ok _ _ _ _ _ _ Hc) in Zz. subst wb wc.
  destruct (eighths_ok _ _ Ei) as [_ Ec].
  destruct (wide_copied_ok st _ k3 a key from n (pieces 8 c (skipn (Z.to_nat from) cd)) r m (smw (base (flat st))) f cd HS Hk3 E) with (ls := call_limbs from c)
    as [m' [mw' [G S']]].
  { intros x0. rewrite Ec, pieces_bytes by (apply skipn_Forall; exact cd_bytes). reflexivity. }
  { apply call_limbs_ok; assumption. }
  assert (Q : wide_copy st r a key n (call_limbs from c) = (cost, st', l)) by congruence. rewrite Q in G, S'. cbn [fst snd] in G, S'.
  split; [|unfold wide_copy in Q; congruence]. do 4 eexists. split; [cbn [fexec]; exact G | exact S'].
Qed.

Lemma wide_codecopy_ok F st cost st' l k m mw f : wstate_ok k m mw f st ->
  wfield p code P wnames T F CODECOPY st = Some (cost, st', l) -> wgoes CODECOPY k m mw f cost st' /\ l = [].
Proof.
  intros HS H. pose proof HS as [[[Hk Hm Hw] HF HC] HL]. unfold wfield in H. cbv zeta in H.
  destruct (sstack (base (flat st))) as [|x [|y [|z r]]]; try discriminate.
  destruct (limb_of x) as [[a key]|] eqn:X; [|discriminate]. destruct (exactly y) as [from|] eqn:Y; [|discriminate].
  destruct (exactly z) as [n|] eqn:Zz; [|discriminate]. destruct (Z.leb_spec 0 n) as [N0|]; [|discriminate].
  destruct (from <=? _); [|discriminate]. cbn [andb] in H. destruct (eighths _) as [c|] eqn:Ei; [|discriminate].
  destruct (filled_limbs _ _ _ _ _) as [ls|] eqn:Fl; [|discriminate]. cbn [option_map] in H.
  inversion Hk as [|wa ? k1 ? Ha Hk1]; subst. inversion Hk1 as [|wb ? k2 ? Hb Hk2]; subst. inversion Hk2 as [|wc ? k3 ? Hc Hk3]; subst.
  destruct (limb_of_ok _ _ _ _ Ha X) as [-> [_ E]]. apply (exactly_ok _ _ _ _ _ _ Hb) in Y. apply (exactly_ok _ _ _ _ _ _ Hc) in Zz. subst wb wc.
  destruct (filled_limbs_ok m _ _ _ _ _ _ HL N0 (proj1 (eighths_ok _ _ Ei)) (skipn_Forall _ (Z.to_nat from) _ code_bytes) Fl) as [vs [Fv Wr]].
  rewrite <- E in Wr. destruct (wide_copied_ok st _ k3 a key from n vs r m (smw (base (flat st))) f code HS Hk3 E Wr ls Fv) as [m' [mw' [G S']]].
  assert (Q : wide_copy st r a key n ls = (cost, st', l)) by congruence. rewrite Q in G, S'. cbn [fst snd] in G, S'.
  split; [|unfold wide_copy in Q; congruence]. do 4 eexists. split; [cbn [fexec]; exact G | exact S'].
Qed.

Lemma wfield_ok F i st cost st' l k m mw f : truths F -> wstate_ok k m mw f st -> wfield p code P wnames T F i st = Some (cost, st', l) ->
  (wgoes i k m mw f cost st' /\ forall c, In c l -> ceval c = false) \/
  ((exists c, fexec code cd i k m mw f = (c, None)) /\ exists c, In c l /\ ceval c = true).
Proof.
  intros HF HS H. pose proof HS as [HFl _].
  assert (fine : forall Q : Prop, Q /\ l = [] -> (Q /\ forall c, In c l -> ceval c = false)) by (intros Q [A ->]; split; [exact A | intros c []]).
  assert (flats : match i with SETMODCX | STORECX | LANES _ _ | ISZEROX _ => True | _ => False end ->
    (forall fs, sfield p code P (fun _ => true) T i (flat st) = Some (cost, fs) -> goes P cd code e i k zeros mw f cost fs) ->
    match sfield p code P (fun _ => true) T i (flat st) with Some (cost, fs) => Some (cost, WS fs (limbs st), []) | None => None end = Some (cost, st', l) ->
    wgoes i k m mw f cost st' /\ l = []).
  { intros A G E. destruct (sfield p code P (fun _ => true) T i (flat st)) as [[c fs]|]; [|discriminate]. injection E as -> <- <-. split; [|reflexivity].
    apply flatly_ok; [exact A | exact HS | apply G; reflexivity]. }
  destruct i.
  - left. apply fine. eapply wide_setmodx_ok; eassumption.
  - left. apply fine. eapply wide_loadx_ok; eassumption.
  - eapply wide_storex_ok; eassumption.
  - left. apply fine, flats; [exact I | intros fs Q; eapply setmodcx_ok; eassumption|]. unfold wfield in H. cbv zeta in H.
    destruct (sstack (base (flat st))), (known (flat st)); exact H.
  - left. apply fine, flats; [exact I | intros fs Q; eapply storecx_ok; eassumption|]. unfold wfield in H. cbv zeta in H.
    destruct (sstack (base (flat st))), (known (flat st)); exact H.
  - left. apply fine, flats; [exact I | intros fs Q; eapply lanes_ok; eassumption|]. unfold wfield in H. cbv zeta in H.
    destruct (sstack (base (flat st))), (known (flat st)); exact H.
  - left. apply fine. eapply wide_calldatacopy_ok; eassumption.
  - left. apply fine. eapply wide_codecopy_ok; eassumption.
  - left. apply fine, flats; [exact I | intros fs Q; eapply iszerox_ok; eassumption|]. unfold wfield in H. cbv zeta in H.
    destruct (sstack (base (flat st))), (known (flat st)); exact H.
  - unfold wfield in H. cbv zeta in H. destruct (sstack (base (flat st))), (known (flat st)); discriminate.
Qed.
(* ---- all of it ---- *)

Variable taken : way.
Hypothesis true_way : truths (fst taken).
Variable o : outcome.
Hypothesis ending : way_ends P cd e taken o.
Notation wwalk := (wwalk p next code jumps P wnames).

Lemma wwalk_nonneg fuel : forall ways F rest st g hs ns, wwalk fuel T ways F rest st = Some (g, hs, ns) -> 0 <= g.
Proof.
  induction fuel as [|fuel IH]; intros ways F rest st g hs ns H; [discriminate|]. cbn [CheckWide.wwalk] in H.
  destruct (fdecode next rest) as [[i n]|].
  { destruct (wfield p code P wnames T F i st) as [[[cost st'] l]|]; [|discriminate].
    match type of H with (if ?b then _ else _) = _ => destruct b eqn:B; [|discriminate] end.
    apply andb_prop in B as [B _]. apply andb_prop in B as [_ C]. apply Z.leb_le in C.
    destruct (filter _ ways); [injection H as <- _ _; lia|]. apply plus_inv' in H as [h [R ->]]. apply IH in R. lia. }
  destruct (decode rest) as [i n].
  assert (plain : match wplain p P wnames T i st with
    | Some (cost, st) => if (0 <=? cost) && within (sstack (base (flat st))) then plus cost (wwalk fuel T ways F (skipn n rest) st) else None
    | None => None
    end = Some (g, hs, ns) -> 0 <= g).
  { clear H. intros H. destruct (wplain p P wnames T i st) as [[cost st']|]; [|discriminate].
    destruct (Z.leb_spec 0 cost); [|discriminate]. destruct (within _); [|discriminate].
    apply plus_inv' in H as [h [R ->]]. apply IH in R. lia. }
  destruct i; try (apply plain; exact H); clear plain.
  - destruct (sstack (base (flat st))) as [|d r]; [discriminate|]. destruct (exactly d); [|discriminate]. destruct (_ && _); [|discriminate].
    apply plus_inv' in H as [h [R ->]]. apply IH in R. lia.
  - destruct (sstack (base (flat st))) as [|d [|x r]]; try discriminate. destruct (exactly d) as [dv|]; [|discriminate].
    destruct (iszero p x) as [c|]; [|discriminate]. destruct (within r); [|discriminate].
    match type of H with match ?t with _ => _ end = _ => destruct t as [[[g1 hs1] ns1]|] eqn:On; [|discriminate] end.
    assert (0 <= g1).
    { destruct (where_ p c true ways); [injection On as <- <- <-; lia | apply IH in On; exact On]. }
    destruct (where_ p c false ways) as [|w l]; [assert (g = 10 + g1) by congruence; lia|].
    destruct (_ && _); [|discriminate].
    match type of H with match ?t with _ => _ end = _ => destruct t as [[[g2 hs2] ns2]|]; [|discriminate] end.
    assert (g = 10 + Z.max g1 g2) by congruence. lia.
  - destruct (sstack (base (flat st))) as [|x [|y r]]; try discriminate. destruct (limb_of x) as [[a key]|]; [|discriminate].
    destruct (exactly y) as [v|]; [|discriminate]. destruct (forallb _ ways); [|discriminate]. cbn [andb] in H.
    destruct (0 <=? _) eqn:C; [|discriminate]. apply Z.leb_le in C. injection H as <- _ _. exact C.
  - destruct (forallb failed ways); [|discriminate]. injection H as <- _ _. lia.
Qed.

Lemma wide_over k k' m mw f st r hs names : wstate_ok k m mw f st -> stack_ok P cd e k' r ->
  wstate_ok k' m mw f (WS (FS (S r (smem (base (flat st))) (smw (base (flat st))) hs) (known (flat st)) (failures (flat st)) names) (limbs st)).
Proof.
  intros [[[_ Hm Hw] HF HC] HL] Hk. split; cbn [flat limbs]; [|exact HL].
  split; cbn [base known failures]; [split; cbn [sstack smem Check.smw]; assumption | exact HF | exact HC].
Qed.

Lemma wide_length k m mw f st : wstate_ok k m mw f st -> within (sstack (base (flat st))) = true -> Z.of_nat (length k) <= 1024.
Proof.
  intros HS Wi. unfold within in Wi. apply Z.leb_le in Wi.
  rewrite (stack_length _ _ _ _ _ (ms_stack _ _ _ _ _ _ _ (so_base _ _ _ _ _ _ _ _ (wo_flat _ _ _ _ _ HS)))). exact Wi.
Qed.

(* On the path that is taken none of these conditions is known to hold. *)
Lemma still_taken ways l : In taken ways -> (forall c, In c l -> ceval c = false) -> In taken (filter (fun w => negb (some_true p l w)) ways).
Proof.
  intros I H. apply filter_In. split; [exact I|].
  assert (some_true p l taken = false) as ->; [|reflexivity]. eapply true_some; eauto.
Qed.

(* Where an instruction halts the program fails. *)
Lemma halts_right ways l c : In taken ways -> forallb (fun w => failed w || all_false p l w) ways = true -> In c l -> ceval c = true -> o = Failed.
Proof.
  intros I All Ic Tc. rewrite forallb_forall in All. specialize (All _ I).
  unfold failed in All. unfold way_ends in ending. cbv zeta in ending. destruct (snd taken) as [|r|r|r|r1 r2].
  2-5: exfalso; cbn [orb] in All; unfold all_false in All; rewrite forallb_forall in All; specialize (All _ Ic);
    (destruct (decide p (fst taken) c) as [[]|] eqn:Dc; try discriminate);
    assert (ceval c = false) by (eapply decide_ok; eauto); congruence.
  exact ending.
Qed.

Lemma wwalk_ok fuel : forall pc ways F st g hs ns k m mw f gas, wstate_ok k m mw f st -> In taken ways -> truths F ->
  wwalk fuel T ways F (skipn pc code) st = Some (g, hs, ns) -> g <= gas -> FEval next code cd (State k m mw pc gas) f o.
Proof.
  induction fuel as [|fuel IH]; intros pc ways F st g hs ns k m mw f gas HS I HF H G; [discriminate|].
  cbn [CheckWide.wwalk] in H.
  assert (B : forall a, a + beside (reserved f) mw mw = a) by (intros a; unfold beside, growth; lia).
  assert (steps : forall cost (s' : state) f', cost <= gas -> Z.of_nat (length (stack s')) <= 1024 ->
    charged (State k m mw pc gas) cost s' f' = FNext s' f').
  { intros cost s' f' C L. unfold charged. cbn [Evm.gas]. destruct (Z.ltb_spec gas cost); [lia|].
    destruct (Z.ltb_spec 1024 (Z.of_nat (length (stack s')))); [lia|]. reflexivity. }
  destruct (fdecode next (skipn pc code)) as [[i n]|] eqn:D.
  { destruct (wfield p code P wnames T F i st) as [[[cost st1] l]|] eqn:X; [|discriminate].
    match type of H with (if ?b then _ else _) = _ => destruct b eqn:Bs; [|discriminate] end.
    apply andb_prop in Bs as [Bs Wi]. apply andb_prop in Bs as [All C]. apply Z.leb_le in C.
    destruct (wfield_ok _ _ _ _ _ _ _ _ _ _ HF HS X) as [[[k' [m' [mw' [f' [E HS1]]]]] Cs]|[[c E] [c' [Ic Tc]]]].
    - pose proof (still_taken ways l I Cs) as I1. destruct (filter _ ways) as [|w ws]; [destruct I1|].
      apply plus_inv' in H as [h [R ->]]. rewrite skipn_skipn' in R. pose proof (wwalk_nonneg _ _ _ _ _ _ _ _ R).
      eapply FEval_step; [|eapply (IH _ _ _ _ _ _ _ k' m' mw' f' (gas - cost) HS1 I1 HF R); lia].
      unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, E. apply steps; [lia|]. eapply wide_length; eassumption.
    - rewrite (halts_right _ _ _ I All Ic Tc). apply FEval_halt. unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, E. reflexivity. }
  destruct (decode (skipn pc code)) as [i n] eqn:D'.
  assert (plain : match wplain p P wnames T i st with
    | Some (cost, st) =>
        if (0 <=? cost) && within (sstack (base (flat st))) then plus cost (wwalk fuel T ways F (skipn n (skipn pc code)) st) else None
    | None => None
    end = Some (g, hs, ns) -> FEval next code cd (State k m mw pc gas) f o).
  { clear H. intros H. destruct (wplain p P wnames T i st) as [[cost st1]|] eqn:X; [|discriminate].
    destruct (Z.leb_spec 0 cost); [|discriminate]. destruct (within _) eqn:Wi; [|discriminate]. cbn [andb] in H.
    apply plus_inv' in H as [h [R ->]]. rewrite skipn_skipn' in R. pose proof (wwalk_nonneg _ _ _ _ _ _ _ _ R).
    destruct (wplain_ok _ _ _ _ _ _ _ _ (pc + n)%nat HS X) as [c [k' [m' [mw' [E [-> HS1]]]]]].
    eapply FEval_step; [|eapply (IH _ _ _ _ _ _ _ k' m' mw' f (gas - (c + beside (reserved f) mw mw')) HS1 I HF R); lia].
    unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, D'. fold jumps. rewrite E. cbv zeta. apply steps; [lia|].
    eapply wide_length; eassumption. }
  pose proof HS as [[[Hk Hm Hw] HFi HC] HL].
  destruct i; try (apply plain; exact H); clear plain.
  - (* JUMP *)
    destruct (sstack (base (flat st))) as [|d r] eqn:SS; [discriminate|]. destruct (exactly d) as [dv|] eqn:X; [|discriminate].
    destruct (Z.leb_spec 0 dv); [|discriminate]. destruct (valid jumps dv) eqn:V; [|discriminate].
    destruct (within r) eqn:Wi; [|discriminate]. cbn [andb] in H.
    apply plus_inv' in H as [h [R ->]]. pose proof (wwalk_nonneg _ _ _ _ _ _ _ _ R).
    inversion Hk as [|w ? k1 ? Hd Hk1]; subst k. apply (exactly_ok _ _ _ _ _ _ Hd) in X. subst w.
    apply Z.leb_le in Wi. pose proof (stack_length _ _ _ _ _ Hk1) as Len.
    eapply FEval_step; [|eapply (IH (Z.to_nat dv) _ _ _ _ _ _ k1 m mw f (gas - 8)); [eapply wide_over; eassumption | exact I | exact HF | exact R | lia]].
    unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, D'. fold jumps. cbn [exec]. rewrite V. cbv zeta. rewrite B.
    apply steps; [lia | cbn [stack]; lia].
  - (* JUMPI *)
    destruct (sstack (base (flat st))) as [|d [|x r]] eqn:SS; try discriminate. destruct (exactly d) as [dv|] eqn:X; [|discriminate].
    destruct (iszero p x) as [c|] eqn:Z0; [|discriminate]. destruct (within r) eqn:Wi; [|discriminate].
    inversion Hk as [|w ? k1 ? Hd Hk1]; subst k. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst k1.
    apply (exactly_ok _ _ _ _ _ _ Hd) in X. subst w. apply (iszero_ok P cd p_pos e _ _ _ Hu) in Z0.
    apply Z.leb_le in Wi. pose proof (stack_length _ _ _ _ _ Hk2) as Len.
    assert (HS2 : forall hs names, wstate_ok k2 m mw f (WS (FS (S r (smem (base (flat st))) (smw (base (flat st))) hs) (known (flat st)) (failures (flat st)) names) (limbs st)))
      by (intros; eapply wide_over; eassumption).
    assert (HF2 : forall b, ceval c = b -> truths (told c b ++ F)).
    { intros b Eb. apply Forall_app. split; [|exact HF]. eapply told_ok; eauto. }
    match type of H with match ?t with _ => _ end = _ => destruct t as [[[g1 hs1] ns1]|] eqn:On; [|discriminate] end.
    assert (N1 : 0 <= g1).
    { destruct (where_ p c true ways); [injection On as <- _ _; lia | apply wwalk_nonneg in On; exact On]. }
    assert (Iw : In taken (where_ p c (ceval c) ways)) by (eapply true_where; eauto).
    destruct (ceval c) eqn:Ec.
    + destruct (where_ p c true ways) as [|w l]; [destruct Iw|].
      assert (g1 + 10 <= gas).
      { destruct (where_ p c false ways) as [|w3 l3]; [assert (g = 10 + g1) by congruence; lia|].
        destruct (_ && _); [|discriminate].
        match type of H with match ?t with _ => _ end = _ => destruct t as [[[g2 hs2] ns2]|]; [|discriminate] end.
        assert (g = 10 + Z.max g1 g2) by congruence. lia. }
      rewrite skipn_skipn' in On.
      eapply FEval_step; [|eapply (IH (pc + n)%nat _ _ _ _ _ _ k2 m mw f (gas - 10) (HS2 _ _) Iw (HF2 _ eq_refl) On); lia].
      unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, D'. fold jumps. cbn [exec]. rewrite Z0. cbv zeta. rewrite B.
      apply steps; [lia | cbn [stack]; lia].
    + destruct (where_ p c false ways) as [|w l]; [destruct Iw|].
      destruct (Z.leb_spec 0 dv); [|discriminate]. destruct (valid jumps dv) eqn:V; [|discriminate]. cbn [andb] in H.
      match type of H with match ?t with _ => _ end = _ => destruct t as [[[g2 hs2] ns2]|] eqn:Off; [|discriminate] end.
      pose proof (wwalk_nonneg _ _ _ _ _ _ _ _ Off) as N2. assert (Eg : g = 10 + Z.max g1 g2) by congruence.
      eapply FEval_step; [|eapply (IH (Z.to_nat dv) _ _ _ _ _ _ k2 m mw f (gas - 10) (HS2 _ _) Iw (HF2 _ eq_refl) Off); lia].
      unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, D'. fold jumps. cbn [exec]. rewrite Z0, V. cbv zeta. rewrite B.
      apply steps; [lia | cbn [stack]; lia].
  - (* RETURN *)
    destruct (sstack (base (flat st))) as [|x [|y r]] eqn:SS; try discriminate. destruct (limb_of x) as [[a key]|] eqn:X; [|discriminate].
    destruct (exactly y) as [v|] eqn:Y; [|discriminate]. destruct (forallb _ ways) eqn:All; [|discriminate]. cbn [andb] in H.
    destruct (0 <=? _) eqn:Cost; [|discriminate].
    match type of H with Some (?x, _, _) = _ => assert (Hg : x = g) by congruence end. clear H.
    rewrite forallb_forall in All. specialize (All _ I). unfold wide_returned in All. unfold way_ends in ending. cbv zeta in ending.
    inversion Hk as [|w ? k1 ? Hx Hk1]; subst k. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst k1.
    destruct (limb_of_ok _ _ _ _ Hx X) as [Ea [Ha E]]. apply (exactly_ok _ _ _ _ _ _ Hu) in Y. subst w u.
    assert (o = Returned (mbytes m a (Z.to_nat v))) as ->.
    { destruct (snd taken) as [| | | |size l]; try discriminate. destruct ending as [-> small]. f_equal.
      destruct (eighths size) as [c|] eqn:Ei; [|discriminate]. destruct (eighths_ok _ _ Ei) as [Es En].
      apply andb_prop in All as [Ev Rt]. apply Z.eqb_eq in Ev. subst v.
      replace (size * Z.of_nat (length l)) with (Z.of_nat (8 * c * length l)) by (rewrite Es; lia). rewrite Nat2Z.id.
      rewrite E, En. symmetry. eapply wide_returns_ok; eassumption. }
    apply FEval_halt. unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, D'. cbn [exec]. cbv zeta.
    rewrite (reserved_ok _ _ _ _ HFi), Hw.
    match goal with |- (if ?b then _ else _) = _ => replace b with false by (symmetry; apply Z.ltb_ge; lia) end. reflexivity.
  - (* INVALID *)
    destruct (forallb failed ways) eqn:All; [|discriminate]. rewrite forallb_forall in All. specialize (All _ I).
    unfold failed in All. unfold way_ends in ending. cbv zeta in ending. destruct (snd taken); try discriminate. rewrite ending.
    apply FEval_halt. unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, D'. reflexivity.
Qed.
End Run.

(* Nothing has been written: memory is zeros. *)
Lemma no_limbs P cd e : limbs_ok P cd e zeros (M.empty limb).
Proof.
  split; [intros x; unfold zeros, is_byte; lia|]. intros key. unfold limb_at. rewrite PositiveMap.gempty.
  replace (beZ (mbytes zeros (8 * (Z.pos key - 1)) 8)) with 0 by reflexivity. split; [split; [lia | reflexivity] | reflexivity].
Qed.

(* Code ends as the program means, whatever calldata is, with any gas from g0 on. *)
Theorem check_wide_sound next P h code g0 : check_wide next P h code = Some g0 ->
  forall cd, Forall is_byte cd -> Z.of_nat (length cd) < W ->
  forall g, g0 <= g -> FEval next code cd (start g) none (flow_meaning P cd).
Proof.
  unfold check_wide. intros H cd Hcd Len g G. destruct (forallb _ code) eqn:By; [|discriminate].
  destruct (Z.odd (f_modulus P)) eqn:Odd; [|discriminate]. cbn [andb] in H.
  destruct (all_paths P h) as [[[Q T] ways]|] eqn:Pp; [|discriminate].
  destruct (wwalk _ _ _ _ _ _ _ _ _ _ _ _) as [[[g1 hs] ns]|] eqn:R; [|discriminate]. injection H as ->.
  destruct (all_paths_ok _ _ _ _ _ Pp cd Hcd Len) as [Eq [Er [p1 [one [parsed [sign [worded [HT [w [Iw [Tw Ew]]]]]]]]]]].
  rewrite <- Eq in R, Odd.
  assert (Hc : Forall is_byte code).
  { apply Forall_forall. intros b I. rewrite forallb_forall in By. specialize (By _ I). unfold between in By.
    apply andb_prop in By as [L1 L2]. apply Z.leb_le in L1, L2. unfold is_byte. lia. }
  eapply (wwalk_ok Q cd Hcd Len next code Hc p1 Odd _ one parsed sign (h_words h) worded T HT w Tw _ Ew); [|exact Iw | | exact R | exact G].
  - split; cbn [flat limbs]; [|apply no_limbs].
    split; cbn [base known failures]; [|reflexivity | intros c []].
    split; cbn [sstack smem Check.smw]; [constructor | apply zeros_ok | reflexivity].
  - constructor.
Qed.

Print Assumptions check_wide_sound.
