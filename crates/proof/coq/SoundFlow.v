(* The checker of programs with branches and calls is sound: `check_flow_sound`. *)
From Coq Require Import ZArith List Bool Lia FMapPositive.
From Residue Require Import Evm Words Program Check Sums Sound Flow CheckFlow.
Import ListNotations.
Open Scope Z_scope.

(* ---- words that are values ---- *)

Definition part_value (cd : list Z) (e : env) (a : part) : Z :=
  match a with
  | PNum n => n
  | PSize => Z.of_nat (length cd)
  | PRead i => e i
  | PBits l n => Z.shiftr (all_bits e l) n
  end.

(* What an operation on words gives. *)
Definition named_value (cd : list Z) (e : env) (o : instr) (a b : part) : Z :=
  match o with CALLDATALOAD => cdnumber cd (part_value cd e a) (32 + part_value cd e b) | _ => bin o (part_value cd e a) (part_value cd e b) end.

Lemma positives_ok l : forall m, positives l m = true -> l = m.
Proof.
  induction l as [|i l IH]; intros [|j m] H; try discriminate; [reflexivity|]. cbn in H. apply andb_prop in H as [A B].
  apply Pos.eqb_eq in A. apply IH in B. congruence.
Qed.

Lemma parteqb_ok a b : parteqb a b = true -> a = b.
Proof.
  destruct a, b; cbn; intros H; try discriminate.
  - apply Z.eqb_eq in H. congruence.
  - reflexivity.
  - apply Pos.eqb_eq in H. congruence.
  - apply andb_prop in H as [A B]. apply positives_ok in A. apply Z.eqb_eq in B. congruence.
Qed.

Lemma instr_eqb_ok i j : instr_eqb i j = true -> i = j.
Proof. destruct i; try discriminate; destruct j; intros H; reflexivity || discriminate. Qed.

Lemma turned_ok i j a b : turned i = Some j -> bin i a b = bin j b a.
Proof.
  intros H. destruct i; cbn in H; try discriminate; injection H as <-; cbn; rewrite ?(Z.add_comm a), ?(Z.mul_comm a); try reflexivity.
  - rewrite Z.eqb_sym. reflexivity.
  - apply Z.land_comm.
  - apply Z.lor_comm.
Qed.

Lemma turned_word i j : turned i = Some j -> j <> CALLDATALOAD.
Proof. destruct i; cbn; intros H; try discriminate; injection H as <-; discriminate. Qed.

Lemma bin_range i a b : 0 <= a < W -> 0 <= b < W -> 0 <= bin i a b < W.
Proof.
  intros Ha Hb. pose proof W_pos. assert (B : forall c, 0 <= b2z c < W) by (intros []; cbn; pose proof W_eq; lia).
  destruct i; cbn [bin]; try apply B; try (apply Z.mod_pos_bound; lia); try lia.
  - destruct (Z.eqb_spec b 0); [lia|]. split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; nia.
  - destruct (Z.eqb_spec b 0); [lia|]. pose proof (Z.mod_pos_bound a b). lia.
  - split; [apply Z.land_nonneg; lia|]. destruct (Z.eq_dec (Z.land a b) 0) as [->|N]; [lia|].
    assert (0 < Z.land a b) by (assert (0 <= Z.land a b) by (apply Z.land_nonneg; lia); lia).
    apply Z.log2_lt_cancel. eapply Z.le_lt_trans; [apply Z.log2_land; lia|].
    change (Z.log2 W) with 256. apply Z.min_lt_iff. left. destruct (Z.eq_dec a 0) as [->|]; [cbn; lia|].
    apply Z.log2_lt_pow2; [lia | exact (proj2 Ha)].
  - apply (lor_range (Program 2 0 [] [] []) []); assumption.
  - destruct (Z.ltb_spec a 256); [apply (shiftr_range (Program 2 0 [] [] []) []); [lia | assumption] | lia].
Qed.

Lemma word_step_cost p wnames known i s cost s' : word_step p wnames known i s = Some (cost, s') -> 0 <= cost.
Proof.
  intros H. assert (C : forall a b, word_op i = Some (a, b) -> 0 <= b) by (destruct i; cbn; intros a b E; try discriminate; injection E as _ <-; lia).
  unfold word_step in H.
  assert (two : match word_op i with
    | Some (_, cost) =>
        match sstack s with
        | x :: y :: r =>
            match word_of wnames i x y with
            | Some z => Some (cost, S (z :: r) (smem s) (smw s) (hints s))
            | None => match equal p i (known x) (known y) with Some z => Some (cost, S (z :: r) (smem s) (smw s) (hints s)) | None => None end
            end
        | _ => None
        end
    | None => None end = Some (cost, s') -> 0 <= cost).
  { clear H. intros H. destruct (word_op i) as [[n c]|]; [|discriminate]. specialize (C _ _ eq_refl).
    destruct (sstack s) as [|x [|y r]]; try discriminate. destruct (word_of wnames i x y); [injection H as <- _; exact C|].
    destruct (equal p i (known x) (known y)); [injection H as <- _; exact C | discriminate]. }
  destruct i; try (apply two; exact H).
  destruct (sstack s) as [|x r]; [discriminate|]. cbv beta iota zeta in H. destruct (at_word wnames x); [injection H as <- _; lia | discriminate].
Qed.

Section Flow.
(* The operations of all paths. *)
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
Hypothesis no_sign : forall i, 0 <= e i.
Let reads := parses P.
Variable wnames : list named_word.
Hypothesis worded : forall i o a b, In (i, (o, a, b)) wnames -> e i = named_value cd e o a b.

Notation ceval := (ceval P cd e).
Notation is_word := (is_word P cd e).
Notation "a == b" := (cong p a b) (at level 70).

(* ---- facts ---- *)

Definition truths (F : list fact) : Prop := Forall (fun f => ceval (fst f) = snd f) F.

Lemma cong_zero a b : a == b -> (a mod p =? 0) = (b mod p =? 0).
Proof. intros [q ->]. rewrite Z_mod_plus_full. reflexivity. Qed.

Lemma neg_zero a b : a == - b -> (a mod p =? 0) = (b mod p =? 0).
Proof.
  intros H. rewrite (cong_zero _ _ H). destruct (Z.eqb_spec (b mod p) 0) as [E|N].
  - rewrite (Z_mod_zero_opp_full _ _ E). reflexivity.
  - rewrite (Z_mod_nz_opp_full _ _ N). apply Z.eqb_neq. pose proof (Z.mod_pos_bound b p). lia.
Qed.

Lemma all_bits_zero l : (all_bits e l =? 0) = forallb (fun i => e i =? 0) l.
Proof.
  induction l as [|i l IH]; [reflexivity|]. cbn [forallb]. rewrite <- IH. clear IH.
  change (all_bits e (i :: l)) with (Z.lor (e i) (all_bits e l)).
  destruct (Z.eqb_spec (e i) 0) as [E|N].
  - rewrite E, Z.lor_0_l. reflexivity.
  - apply Z.eqb_neq. intros H. apply Z.lor_eq_0_iff in H. tauto.
Qed.

Lemma listed_zero l m : listed l m = true -> all_bits e m = 0 -> all_bits e l = 0.
Proof.
  intros H Z0. apply Z.eqb_eq in Z0. rewrite all_bits_zero in Z0. apply Z.eqb_eq. rewrite all_bits_zero.
  apply forallb_forall. intros i I. unfold listed in H. rewrite forallb_forall in H, Z0. specialize (H _ I).
  apply existsb_exists in H as [j [J Q]]. apply Pos.eqb_eq in Q. subst j. apply Z0. exact J.
Qed.

Lemma same_ok a b : same p a b = true -> ceval a = ceval b.
Proof.
  intros H. assert (plain : condeqb a b = true -> ceval a = ceval b) by (intros Q; apply condeqb_ok in Q; congruence).
  destruct a as [| | | |s|l|], b as [| | | |t|m|]; try (apply plain; exact H); cbn [same] in H; cbn [Sound.ceval].
  - apply orb_prop in H as [H|H]; apply seqb_ok in H; subst t; [reflexivity|]. symmetry. apply neg_zero, den_sneg.
  - apply andb_prop in H as [H K]. apply eq_true_iff_eq. rewrite !Z.eqb_eq. split; apply listed_zero; assumption.
Qed.

Lemma look_ok F c b : truths F -> look p F c = Some b -> ceval c = b.
Proof.
  intros HF H. unfold look in H. match type of H with option_map _ ?t = _ => destruct t as [[c' b']|] eqn:Q end; [|discriminate]. injection H as <-.
  apply find_some in Q as [I Q]. cbn [fst snd] in *. rewrite (same_ok _ _ Q).
  unfold truths in HF. rewrite Forall_forall in HF. exact (HF _ I).
Qed.

Lemma look_both_ok F c b : truths F -> look_both p F c = Some b -> ceval c = b.
Proof.
  intros HF H. unfold look_both in H. destruct (look p F c) as [b'|] eqn:L; [injection H as <-; eapply look_ok; eassumption|].
  destruct (other_form p F c) as [c'|] eqn:O; [|discriminate]. apply (look_ok _ _ _ HF) in H. rewrite <- H. clear H L.
  assert (below : forall i, look p F (CNotBelow i) = Some false -> (e i mod p =? 0) = (all_bits e [i] =? 0)).
  { intros i Q. apply (look_ok _ _ _ HF) in Q. cbn in Q. apply Z.leb_gt in Q. fold p in Q.
    rewrite Z.mod_small by (split; [apply no_sign | exact Q]). cbn. rewrite Z.lor_0_r. reflexivity. }
  destruct c as [| | | |s|l|]; try discriminate; cbn [other_form] in O.
  - destruct s as [|[i m] [|x s]]; try discriminate. destruct (look p F (CNotBelow i)) as [[]|] eqn:Q; try discriminate.
    destruct (Z.eqb_spec m 1) as [->|]; [|discriminate]. injection O as <-. cbn [Sound.ceval]. fold p. rewrite den_one. apply below; exact Q.
  - destruct l as [|i [|j l]]; try discriminate. destruct (look p F (CNotBelow i)) as [[]|] eqn:Q; try discriminate.
    injection O as <-. cbn [Sound.ceval]. fold p. rewrite den_one. symmetry. apply below; exact Q.
Qed.

Lemma decide_ok F c : truths F -> forall b, decide p F c = Some b -> ceval c = b.
Proof.
  intros HF. induction c as [n|i|a IH|i n|s|l|a IHa b IHb]; intros v H; cbn [decide] in H; try (eapply look_both_ok; eassumption).
  - destruct (decide p F a) as [x|]; [|discriminate]. injection H as <-. cbn. rewrite (IH _ eq_refl). reflexivity.
  - destruct (look_both p F (CAbove i n)) as [b|] eqn:L; [injection H as <-; eapply look_both_ok; eassumption|].
    unfold look_above in H. destruct (look p F (CNotBelow i)) as [[]|] eqn:B; try discriminate.
    destruct (Z.leb_spec p (2 ^ n)); [|discriminate]. injection H as <-. apply (look_ok _ _ _ HF) in B. cbn [Sound.ceval] in B |- *.
    apply Z.leb_gt in B. apply Z.leb_gt. fold p in B. lia.
  - destruct (as_const s) as [k|] eqn:C; [|eapply look_both_ok; eassumption]. injection H as <-.
    apply (as_const_ok e one) in C. cbn. rewrite C. reflexivity.
  - cbn [Sound.ceval].
    destruct (decide p F a) as [[]|]; [specialize (IHa _ eq_refl) | specialize (IHa _ eq_refl) | clear IHa];
      (destruct (decide p F b) as [[]|]; [specialize (IHb _ eq_refl) | specialize (IHb _ eq_refl) | clear IHb]);
      try discriminate; injection H as <-; rewrite ?IHa, ?IHb; cbn; rewrite ?andb_false_r; reflexivity.
Qed.

(* ---- words ---- *)

Lemma part_of_ok w x a : is_word w x -> part_of x = Some a -> w = part_value cd e a.
Proof.
  intros H E. pose proof H as [_ H']. destruct x as [s lo hi|i| |c|l n|]; cbn [part_of] in E; try (injection E as <-; exact H').
  - match type of E with option_map _ ?t = _ => destruct t as [v|] eqn:X; [|discriminate] end. injection E as <-. exact (exactly_ok _ _ _ _ _ _ H X).
  - discriminate.
  - discriminate.
Qed.

Lemma found_ok i a b h : found wnames i a b = Some h -> e h = named_value cd e i a b.
Proof.
  intros H. unfold found in H. match type of H with option_map _ ?t = _ => destruct t as [[k [[j c] d]]|] eqn:Q end; [|discriminate].
  injection H as <-. apply find_some in Q as [I Q]. apply andb_prop in Q as [Q D]. apply andb_prop in Q as [Q C].
  apply instr_eqb_ok in Q. apply parteqb_ok in C, D. subst j c d. apply worded. exact I.
Qed.

Lemma found_bin i a b h : i <> CALLDATALOAD -> found wnames i a b = Some h -> e h = bin i (part_value cd e a) (part_value cd e b).
Proof. intros N H. rewrite (found_ok _ _ _ _ H). unfold named_value. destruct i; congruence || reflexivity. Qed.

Lemma at_word_ok w x h : is_word w x -> at_word wnames x = Some h -> cdword cd w = e h.
Proof.
  intros Hw H. unfold at_word in H. destruct (part_of x) as [a|] eqn:A; [|discriminate].
  rewrite (part_of_ok _ _ _ Hw A). symmetry. rewrite (found_ok _ _ _ _ H). reflexivity.
Qed.

Lemma word_of_ok i w u x y z : is_word w x -> is_word u y -> word_of wnames i x y = Some z -> is_word (bin i w u) z.
Proof.
  intros Hw Hu H. unfold word_of in H.
  assert (N : i <> CALLDATALOAD) by (intros ->; discriminate).
  destruct (word_op i); [|discriminate]. pose proof (bin_range i w u (proj1 Hw) (proj1 Hu)) as R.
  destruct (part_of x) as [a|] eqn:A; [|discriminate]. destruct (part_of y) as [b|] eqn:B; [|discriminate].
  apply (part_of_ok _ _ _ Hw) in A. apply (part_of_ok _ _ _ Hu) in B. destruct (found wnames i a b) as [h|] eqn:F.
  - injection H as <-. split; [exact R|]. rewrite (found_bin _ _ _ _ N F), A, B. reflexivity.
  - destruct (turned i) as [j|] eqn:Tu; [|discriminate]. destruct (found wnames j b a) as [h|] eqn:F2; [|discriminate].
    injection H as <-. split; [exact R|]. rewrite (found_bin _ _ _ _ (turned_word _ _ Tu) F2), A, B. apply turned_ok; exact Tu.
Qed.

Lemma sym_bin_ok i w u x y z : is_word w x -> is_word u y -> sym_bin p wnames i x y = Some z -> is_word (bin i w u) z.
Proof.
  intros Hw Hu H. unfold sym_bin in H. destruct (known_bin p i x y) as [v|] eqn:K; [|eapply word_of_ok; eassumption].
  injection H as ->. destruct i; try (eapply sbin_ok; eassumption). cbn [known_bin] in K.
  destruct (exactly x) as [n|] eqn:X; [|discriminate]. apply (exactly_ok _ _ _ _ _ _ Hw) in X. subst w.
  destruct (shifted_ok _ _ _ _ _ _ _ Hu K) as [N Hz]. cbn [bin]. destruct (Z.ltb_spec n 256); [exact Hz | lia].
Qed.

Lemma equal_ok i w u x y z : is_word w x -> is_word u y -> equal p i x y = Some z -> is_word (bin i w u) z.
Proof.
  intros [Rw Hw] [Ru Hu] H. destruct i; try discriminate. destruct x as [a lo hi| | | | |]; try discriminate.
  destruct y as [b lo' hi'| | | | |]; try discriminate. cbn [equal] in H.
  destruct (Z.leb_spec 0 lo); [|discriminate]. destruct (Z.ltb_spec hi p); [|discriminate].
  destruct (Z.leb_spec 0 lo'); [|discriminate]. destruct (Z.ltb_spec hi' p); [|discriminate]. cbn [andb] in H. injection H as <-.
  destruct Hw as [Bw Cw], Hu as [Bu Cu]. cbn [bin].
  match goal with |- is_word _ (SB ?c) => replace (w =? u) with (ceval c); [apply truth_word; assumption|] end.
  cbn [Sound.ceval]. fold p. assert (D : den e (sadd p a (sneg p b)) == w - u).
  { eapply cong_trans; [apply den_sadd; assumption|]. apply cong_add; [apply cong_sym; exact Cw|].
    eapply cong_trans; [apply den_sneg|]. apply cong_opp, cong_sym; exact Cu. }
  rewrite (cong_zero _ _ D). destruct (Z.eqb_spec w u) as [->|N].
  - rewrite Z.sub_diag. apply Z.eqb_eq, Z.mod_0_l. lia.
  - apply Z.eqb_neq. intros M0. apply N. apply (cong_eq p); try lia. apply Z.mod_divide in M0; [|lia].
    destruct M0 as [q Q]. exists q. lia.
Qed.

Lemma word_step_ok bytes known i s cost s' k m mw next : (forall w x, is_word w x -> is_word w (known x)) -> match_ok P cd e k m mw s -> word_step p wnames known i s = Some (cost, s') ->
  0 <= cost /\ exists k', exec bytes cd i next k m mw = (cost, Go k' m mw next) /\ match_ok P cd e k' m mw s'.
Proof.
  intros Kn [Hk Hm Hw] H. unfold word_step in H. cbv zeta in H.
  assert (two : match word_op i with
    | Some (_, cost) =>
        match sstack s with
        | x :: y :: r =>
            match word_of wnames i x y with
            | Some z => Some (cost, S (z :: r) (smem s) (smw s) (hints s))
            | None => match equal p i (known x) (known y) with Some z => Some (cost, S (z :: r) (smem s) (smw s) (hints s)) | None => None end
            end
        | _ => None
        end
    | None => None end = Some (cost, s') -> 0 <= cost /\ exists k', exec bytes cd i next k m mw = (cost, Go k' m mw next) /\ match_ok P cd e k' m mw s').
  { intros E. destruct (word_op i) as [[n c]|] eqn:Op; [|discriminate]. destruct (sstack s) as [|x [|y r]] eqn:SS; try discriminate.
    inversion Hk as [|w ? k1 ? Hx Hk1]; subst k. inversion Hk1 as [|u ? k2 ? Hy Hk2]; subst k1.
    assert (exists z, is_word (bin i w u) z /\ cost = c /\ s' = S (z :: r) (smem s) (smw s) (hints s)) as [z [Hz [-> ->]]].
    { destruct (word_of wnames i x y) as [z|] eqn:Z0; [exists z; split; [eapply word_of_ok; eassumption | split; congruence]|].
      destruct (equal p i (known x) (known y)) as [z|] eqn:Z1; [|discriminate]. exists z. split; [eapply equal_ok; [apply Kn; exact Hx | apply Kn; exact Hy | exact Z1] | split; congruence]. }
    split; [destruct i; cbn in Op; try discriminate; injection Op as _ <-; lia|].
    exists (bin i w u :: k2). split; [destruct i; cbn in Op; try discriminate; injection Op as _ <-; reflexivity|].
    split; cbn [sstack smem Check.smw]; [|exact Hm | exact Hw]. constructor; [exact Hz | exact Hk2]. }
  destruct i; try (apply two; exact H).
  clear two. destruct (sstack s) as [|x r] eqn:SS; [discriminate|]. destruct (at_word wnames x) as [h|] eqn:A; [|discriminate].
  injection H as <- <-. split; [lia|]. inversion Hk as [|w ? k1 ? Hx Hk1]; subst k. exists (cdword cd w :: k1). split; [reflexivity|].
  split; cbn [sstack smem Check.smw]; [|exact Hm | exact Hw]. constructor; [|exact Hk1].
  split; [apply cdword_range; exact cd_bytes | exact (at_word_ok _ _ _ Hx A)].
Qed.

Lemma widened_ok i s k m mw : match_ok P cd e k m mw s -> match_ok P cd e k m mw (widened i s).
Proof.
  intros [Hk Hm Hw]. unfold widened. split; cbn [sstack smem Check.smw]; [|assumption|assumption].
  rewrite <- (firstn_skipn (modular i) (sstack s)) in Hk. unfold stack_ok in *.
  apply Forall2_app_inv_r in Hk as [u [v [A [B ->]]]]. apply Forall2_app; [|exact B].
  clear B. induction A as [|w x u xs Hx _ IHA]; cbn [map]; constructor; [|exact IHA].
  destruct x as [|i'| | | |]; try exact Hx. cbn [wide]. destruct Hx as [R ->]. split; [exact R|]. split; [lia|].
  exists 0. cbn [den]. ring.
Qed.

(* ---- paths of a program ---- *)

Record rel (s : path) (f : frame) : Prop := {
  rel_vals : forall i x, M.find i (ren s) = Some x -> vals f i = read e x /\ 0 <= vals f i < p;
  rel_words : forall w x, M.find w (pwords s) = Some x -> is_word (wrds f w) x }.

Definition made_ok (g : made) : Prop := Forall (holds p e) (done g).

Definition fin_ok (x : fin) (o : frame + outcome) : Prop :=
  match x, o with
  | At s, inl f => rel s f /\ truths (facts s)
  | End F Fails, inr o => o = Failed /\ truths F
  | End F (Returns l), inr o =>
      o = Returned (concat (map (fun i => bytes_of 32 (e i)) l)) /\ truths F /\ forall i, In i l -> 0 <= e i < p
  | End F (Tells c), inr o => o = Returned (bytes_of 32 (b2z (ceval c))) /\ truths F
  | End F (ReturnsBytes n l), inr o =>
      o = Returned (concat (map (fun i => bytes_of (Z.to_nat n) (e i)) l)) /\ truths F /\ forall i, In i l -> 0 <= e i < p
  | _, _ => False
  end.

Definition more (g g' : made) : Prop := exists l, done g' = l ++ done g.
Lemma more_refl g : more g g. Proof. exists []; reflexivity. Qed.
Lemma more_trans a b c : more a b -> more b c -> more a c.
Proof. intros [l H] [m K]. exists (m ++ l). rewrite K, H. apply app_assoc. Qed.
Lemma more_ok g g' : more g g' -> made_ok g' -> made_ok g.
Proof. intros [l H] K. unfold made_ok in *. rewrite H in K. apply Forall_app in K. apply K. Qed.

Lemma each_more {A} (f : A -> made -> option (made * list fin)) l :
  (forall x g g' a, f x g = Some (g', a) -> more g g') -> forall g g' a, each f l g = Some (g', a) -> more g g'.
Proof.
  intros Hf. induction l as [|x l IH]; intros g g' a H; cbn in H; [injection H as <- <-; apply more_refl|].
  destruct (f x g) as [[g1 a1]|] eqn:E; [|discriminate]. destruct (each f l g1) as [[g2 b]|] eqn:E2; [|discriminate].
  injection H as <- <-. eapply more_trans; [eapply Hf; exact E | eapply IH; exact E2].
Qed.

Lemma each_in {A} (f : A -> made -> option (made * list fin)) l x : In x l ->
  forall g g' a, each f l g = Some (g', a) -> (forall x g g' a, f x g = Some (g', a) -> more g g') ->
  exists g1 g2 b, f x g1 = Some (g2, b) /\ more g2 g' /\ incl b a.
Proof.
  intros I g g' a H Hf. revert I g g' a H. induction l as [|y l IH]; intros I g g' a H; [destruct I|]. cbn in H.
  destruct (f y g) as [[g1 a1]|] eqn:E; [|discriminate]. destruct (each f l g1) as [[g2 b]|] eqn:E2; [|discriminate].
  injection H as <- <-. destruct I as [<-|I].
  - exists g, g1, a1. split; [exact E|]. split; [eapply each_more; [exact Hf | exact E2]|]. apply incl_appl, incl_refl.
  - destruct (IH I _ _ _ E2) as [h [h' [c [F [M0 N]]]]]. exists h, h', c. split; [exact F|]. split; [exact M0|]. apply incl_appr, N.
Qed.

Lemma sym_ops_more l : forall g r g' r', sym_ops p l g r = Some (g', r') -> more g g'.
Proof.
  induction l as [|o l IH]; intros g r g' r' H; cbn in H; [injection H as <- <-; apply more_refl|].
  destruct (sym_operand p r (left o)); [|discriminate]. destruct (sym_operand p r (right o)); [|discriminate].
  eapply more_trans; [|eapply IH; exact H]. eexists [_]. reflexivity.
Qed.

Lemma sym_more b : forall g s g' a, sym p reads wnames b g s = Some (g', a) -> more g g'.
Proof.
  induction b as [|l k IH|to from k IH|i off k IH|i x k IH|i x k IH|w x k IH|w x k IH|x k IH|x t IHt u IHu k IH|ps args b IHb gives rs k IH|l|x|i off n k IH|n l];
    intros g s g' a H; cbn [sym] in H.
  - injection H as <- <-. apply more_refl.
  - destruct (sym_ops p l g (ren s)) as [[g1 r]|] eqn:E; [|discriminate].
    eapply more_trans; [eapply sym_ops_more; exact E | eapply IH; exact H].
  - destruct (sym_operands p (ren s) from); [|discriminate]. eapply IH; exact H.
  - destruct (find_read reads off); [|discriminate]. destruct (split p split_fuel _ s) as [l|]; [|discriminate].
    eapply each_more; [|exact H]. intros [[] s1] h h' c E; [injection E as <- <-; apply more_refl | eapply IH; exact E].
  - destruct (sym_word p reads wnames s x) as [[| | | | |]|]; try discriminate. eapply more_trans; [|eapply IH; exact H]. eexists [_]. reflexivity.
  - destruct (sym_offset p reads wnames s x); [|discriminate]. destruct (split p split_fuel _ s) as [l|]; [|discriminate].
    eapply each_more; [|exact H]. intros [[] s1] h h' c E; [injection E as <- <-; apply more_refl | eapply IH; exact E].
  - destruct (sym_operand p (ren s) x); [|discriminate]. eapply IH; exact H.
  - destruct (sym_word p reads wnames s x); [|discriminate]. eapply IH; exact H.
  - destruct (split_word p reads wnames s x) as [l|]; [|discriminate].
    eapply each_more; [|exact H]. intros [[] s1] h h' c E; [injection E as <- <-; apply more_refl | eapply IH; exact E].
  - destruct (split_word p reads wnames s x) as [l|]; [|discriminate].
    eapply each_more; [|exact H]. intros [z s1] h h' c E.
    assert (Q : forall h1 a1, (if z then sym p reads wnames u h s1 else sym p reads wnames t h s1) = Some (h1, a1) -> more h h1)
      by (intros h1 a1; destruct z; [apply IHu | apply IHt]).
    destruct (if z then sym p reads wnames u h s1 else sym p reads wnames t h s1) as [[h1 a1]|]; [|discriminate].
    eapply more_trans; [eapply Q; reflexivity|]. eapply each_more; [|exact E].
    intros [s2|F o] h2 h3 c' E'; [eapply IH; exact E' | injection E' as <- <-; apply more_refl].
  - destruct (sym_operands p (ren s) args) as [l|]; [|discriminate].
    destruct (sym p reads wnames b g _) as [[h1 a1]|] eqn:E; [|discriminate].
    eapply more_trans; [eapply IHb; exact E|]. eapply each_more; [|exact H].
    intros [s2|F o] h2 h3 c' E'; [|injection E' as <- <-; apply more_refl].
    destruct (sym_operands p (ren s2) gives); [|discriminate]. eapply IH; exact E'.
  - destruct (sym_operands p (ren s) l); [|discriminate]. destruct (values_of _); [|discriminate].
    injection H as <- <-. apply more_refl.
  - destruct (sym_word p reads wnames s x) as [[| | | | |]|]; try discriminate. injection H as <- <-. apply more_refl.
  - destruct (if 32 <=? n then _ else None); [|discriminate]. destruct (split p split_fuel _ s) as [l|]; [|discriminate].
    eapply each_more; [|exact H]. intros [[] s1] h h' c E; [injection E as <- <-; apply more_refl | eapply IH; exact E].
  - destruct (sym_operands p (ren s) l); [|discriminate]. destruct (values_of _); [|discriminate].
    injection H as <- <-. apply more_refl.
Qed.

Lemma sym_operand_ok s f x y : rel s f -> sym_operand p (ren s) x = Some y ->
  read (vals f) x = read e y /\ 0 <= read (vals f) x < p.
Proof.
  intros HR H. destruct x as [i|c]; cbn in H; [exact (rel_vals _ _ HR _ _ H)|].
  destruct (Z.leb_spec 0 c); [|discriminate]. destruct (Z.ltb_spec c p); [|discriminate]. injection H as <-. cbn. lia.
Qed.

Lemma sym_operands_ok s f l : rel s f -> forall m, sym_operands p (ren s) l = Some m ->
  Forall2 (fun v y => v = read e y /\ 0 <= v < p) (map (read (vals f)) l) m.
Proof.
  intros HR. induction l as [|x l IH]; intros m H; cbn in H; [injection H as <-; constructor|].
  destruct (sym_operand p (ren s) x) as [y|] eqn:E; [|discriminate]. destruct (sym_operands p (ren s) l) as [ys|]; [|discriminate].
  injection H as <-. cbn [map]. constructor; [eapply sym_operand_ok; eassumption | apply IH; reflexivity].
Qed.

Lemma moved_ok to vs ys : Forall2 (fun v y => v = read e y /\ 0 <= v < p) vs ys -> forall to' r n, to' = to ->
  (forall i x, M.find i r = Some x -> n i = read e x /\ 0 <= n i < p) ->
  forall i x, M.find i (sym_moved to ys r) = Some x -> moved to vs n i = read e x /\ 0 <= moved to vs n i < p.
Proof.
  intros H to' r n _. revert to r n. induction H as [|v y vs ys Hv _ IH]; intros [|j to] r n Hr i x; cbn [sym_moved moved];
    try apply Hr.
  apply IH. intros k z. rewrite find_add. unfold set. destruct (Pos.eqb_spec k j) as [->|N].
  - intros E. injection E as <-. exact Hv.
  - apply Hr.
Qed.

Lemma find_read_ok off r : find_read reads off = Some r -> e r = cdword cd off.
Proof.
  intros H. unfold find_read in H. match type of H with option_map _ ?t = _ => destruct t as [[i o]|] eqn:Q end; [|discriminate]. injection H as <-.
  apply find_some in Q as [I Q]. cbn [fst snd] in *. apply Z.eqb_eq in Q. subst o. apply parsed. exact I.
Qed.

Lemma sym_word_ok s f x : rel s f -> forall y, sym_word p reads wnames s x = Some y -> is_word (word_value cd (wrds f) x) y.
Proof.
  intros HR. induction x as [n| |off|w|i a IHa b IHb]; intros y H; cbn [sym_word word_value] in *.
  - destruct (Z.leb_spec 0 n); [|discriminate]. destruct (Z.ltb_spec n W); [|discriminate]. injection H as <-.
    split; [lia|]. split; [lia|]. apply cong_sym, den_const; assumption.
  - injection H as <-. split; [lia | reflexivity].
  - destruct (find_read reads off) as [r|] eqn:E; [|discriminate]. injection H as <-.
    split; [apply cdword_range; exact cd_bytes|]. symmetry. apply find_read_ok; exact E.
  - exact (rel_words _ _ HR _ _ H).
  - destruct (sym_word p reads wnames s a) as [u|]; [|discriminate]. destruct (sym_word p reads wnames s b) as [v|]; [|discriminate].
    eapply sym_bin_ok; eauto.
Qed.

Lemma sym_offset_ok s f x : rel s f -> forall r, sym_offset p reads wnames s x = Some r -> e r = cdword cd (word_value cd (wrds f) x).
Proof.
  intros HR r H. unfold sym_offset in H. destruct (sym_word p reads wnames s x) as [y|] eqn:E; [|discriminate].
  pose proof (sym_word_ok _ _ _ HR _ E) as Hw. destruct (exactly y) as [off|] eqn:X.
  - rewrite (exactly_ok _ _ _ _ _ _ Hw X). apply find_read_ok; exact H.
  - symmetry. exact (at_word_ok _ _ _ Hw H).
Qed.

Lemma sym_ops_ok l : forall g r n g' r', sym_ops p l g r = Some (g', r') -> made_ok g' ->
  (forall i x, M.find i r = Some x -> n i = read e x /\ 0 <= n i < p) ->
  forall i x, M.find i r' = Some x -> eval_ops p l n i = read e x /\ 0 <= eval_ops p l n i < p.
Proof.
  induction l as [|o l IH]; intros g r n g' r' H G Hr; cbn in H; [injection H as <- <-; exact Hr|].
  destruct (sym_operand p r (left o)) as [a|] eqn:A; [|discriminate].
  destruct (sym_operand p r (right o)) as [b|] eqn:B; [|discriminate].
  pose proof (sym_ops_more _ _ _ _ _ H) as Mo. apply (more_ok _ _ Mo) in G as G1. inversion G1 as [|? ? Ho _]; subst.
  assert (R0 : rel (Path r (M.empty sword) []) (Frame n n)).
  { split; cbn [ren pwords vals]; [exact Hr|]. intros w x E. rewrite PositiveMap.gempty in E. discriminate. }
  destruct (sym_operand_ok _ _ _ _ R0 A) as [Ea _]. destruct (sym_operand_ok _ _ _ _ R0 B) as [Eb _]. cbn [vals] in Ea, Eb.
  unfold eval_ops. cbn [fold_left]. eapply IH; [exact H | exact G|]. intros i x. rewrite find_add. unfold eval_op, set.
  destruct (Pos.eqb_spec i (out o)) as [->|N]; [|apply Hr]. intros E. injection E as <-. cbn [read].
  unfold holds in Ho. cbn [out what left right] in Ho. rewrite Ho, Ea, Eb. split; [reflexivity|].
  destruct (what o); cbn; apply Z.mod_pos_bound; lia.
Qed.

Lemma split_ok fuel c : forall s l, split p fuel c s = Some l -> truths (facts s) ->
  exists s', In (ceval c, s') l /\ ren s' = ren s /\ pwords s' = pwords s /\ truths (facts s').
Proof.
  induction fuel as [|fuel IH]; intros s l H HF; cbn [split] in H;
    (destruct (decide p (facts s) c) as [b|] eqn:D;
     [injection H as <-; exists s; rewrite (decide_ok _ _ HF _ D); split; [left; reflexivity | auto]|]); [discriminate|].
  destruct (split p fuel c (learned s (unknown p (facts s) c, true))) as [l1|] eqn:E1; [|discriminate].
  destruct (split p fuel c (learned s (unknown p (facts s) c, false))) as [l2|] eqn:E2; [|discriminate].
  injection H as <-. destruct (ceval (unknown p (facts s) c)) eqn:V.
  - destruct (IH _ _ E1) as [s' [I [R1 [R2 T1]]]]; [constructor; [exact V | exact HF]|].
    exists s'. split; [apply in_or_app; left; exact I | auto].
  - destruct (IH _ _ E2) as [s' [I [R1 [R2 T1]]]]; [constructor; [exact V | exact HF]|].
    exists s'. split; [apply in_or_app; right; exact I | auto].
Qed.

Lemma rel_same s s' f : ren s' = ren s -> pwords s' = pwords s -> rel s f -> rel s' f.
Proof. intros A B [Q R]. split; rewrite ?A, ?B; assumption. Qed.

Lemma split_word_ok s f x l : rel s f -> split_word p reads wnames s x = Some l -> truths (facts s) ->
  exists s', In (word_value cd (wrds f) x =? 0, s') l /\ rel s' f /\ truths (facts s').
Proof.
  intros HR H HF. unfold split_word in H. destruct (sym_word p reads wnames s x) as [y|] eqn:E; [|discriminate].
  destruct (iszero p y) as [c|] eqn:Z0; [|discriminate].
  rewrite (iszero_ok P cd p_pos e _ _ _ (sym_word_ok _ _ _ HR _ E) Z0).
  destruct (split_ok _ _ _ _ H HF) as [s' [I [A [B T1]]]]. exists s'. split; [exact I|].
  split; [eapply rel_same; eassumption | exact T1].
Qed.

Lemma rel_learn s f w x v : rel s f -> is_word v x -> rel (Path (ren s) (M.add w x (pwords s)) (facts s)) (Frame (vals f) (set (wrds f) w v)).
Proof.
  intros [A B] Hv. split; cbn [ren pwords vals wrds]; [exact A|]. intros j y. rewrite find_add. unfold set.
  destruct (Pos.eqb_spec j w) as [->|N]; [|apply B]. intros E. injection E as <-. exact Hv.
Qed.

Lemma values_of_ok l : forall m, values_of l = Some m -> l = map V m.
Proof.
  induction l as [|x l IH]; intros m H; cbn in H; [injection H as <-; reflexivity|].
  destruct x as [i|c]; [|discriminate]. fold (values_of l) in H. destruct (values_of l) as [r|]; [|discriminate].
  injection H as <-. cbn. rewrite <- IH; reflexivity.
Qed.

(* Values that are returned, each of so many bytes. *)
Lemma returned_values n (f : operand -> Z) l m : Forall2 (fun v y => v = read e y /\ 0 <= v < p) (map f l) (map V m) ->
  map (fun x => bytes_of n (f x)) l = map (fun i => bytes_of n (e i)) m /\ forall i, In i m -> 0 <= e i < p.
Proof.
  revert m. induction l as [|x l IH]; intros [|i m] F2; inversion F2 as [|? ? ? ? Hv F]; subst; [split; [reflexivity | intros j []]|].
  destruct Hv as [Hv Rv]. cbn [read] in Hv. destruct (IH _ F) as [E R]. cbn [map]. rewrite Hv, E. split; [reflexivity|].
  intros j [<-|J]; [lia | apply R; exact J].
Qed.

Lemma sym_ok b : forall g s g' a f, sym p reads wnames b g s = Some (g', a) -> made_ok g' -> rel s f -> truths (facts s) ->
  exists x, In x a /\ fin_ok x (mean p cd b f).
Proof.
  induction b as [|l k IH|to from k IH|i off k IH|i x k IH|i x k IH|w x k IH|w x k IH|x k IH|x t IHt u IHu k IH|ps args b IHb gives rs k IH|l|x|i off n k IH|n l];
    intros g s g' a f H G HR HF; cbn [sym mean] in H |- *.
  - injection H as <- <-. exists (At s). split; [left; reflexivity | split; assumption].
  - destruct (sym_ops p l g (ren s)) as [[g1 r]|] eqn:E; [|discriminate].
    eapply IH; [exact H | exact G| |exact HF]. split; cbn [ren pwords vals wrds]; [|apply HR].
    eapply sym_ops_ok; [exact E | eapply more_ok; [eapply sym_more; exact H | exact G] | apply HR].
  - destruct (sym_operands p (ren s) from) as [ys|] eqn:E; [|discriminate].
    eapply IH; [exact H | exact G| |exact HF]. split; cbn [ren pwords vals wrds]; [|apply HR].
    eapply moved_ok; [eapply sym_operands_ok; eassumption | reflexivity | apply HR].
  - destruct (find_read reads off) as [r|] eqn:E; [|discriminate]. pose proof (find_read_ok _ _ E) as Er.
    destruct (split p split_fuel _ s) as [l|] eqn:S0; [|discriminate].
    destruct (split_ok _ _ _ _ S0 HF) as [s' [I [A [B T1]]]]. cbn [Sound.ceval] in I. rewrite Er in I. fold p in I.
    destruct (each_in _ _ _ I _ _ _ H) as [g1 [g2 [c [Q [Mo Inc]]]]].
    { intros [[] s1] h h' c Q; [injection Q as <- <-; apply more_refl | eapply sym_more; exact Q]. }
    cbn beta iota in Q.
    pose proof (cdword_range cd off cd_bytes) as Rg.
    destruct (Z.leb_spec p (cdword cd off)) as [L|L].
    + injection Q as <- <-. destruct (Z.ltb_spec (cdword cd off) p); [lia|]. eexists; split; [apply Inc; left; reflexivity|].
      split; [reflexivity | exact T1].
    + destruct (Z.ltb_spec (cdword cd off) p); [|lia].
      destruct (IH _ _ _ _ (Frame (set (vals f) i (cdword cd off)) (wrds f)) Q (more_ok _ _ Mo G)) as [x [Ix Fx]];
        [| exact T1 | exists x; split; [apply Inc; exact Ix | exact Fx]].
      split; cbn [ren pwords vals wrds]; rewrite ?A, ?B; [|apply HR]. intros j y. rewrite find_add. unfold set.
      destruct (Pos.eqb_spec j i) as [->|N]; [|apply HR]. intros Ey. injection Ey as <-. cbn [read]. rewrite Er. split; [reflexivity | lia].
  - destruct (sym_word p reads wnames s x) as [[s0 lo hi|r| |c|l n|]|] eqn:E; try discriminate.
    pose proof (sym_word_ok _ _ _ HR _ E) as [_ Er].
    pose proof (more_ok _ _ (sym_more _ _ _ _ _ H) G) as G1. inversion G1 as [|? ? Ho _]; subst.
    unfold holds in Ho. cbn [out what left right read field_op] in Ho. rewrite Z.add_0_r in Ho.
    eapply IH; [exact H | exact G | | exact HF]. split; cbn [ren pwords vals wrds]; [|apply HR].
    intros j y. rewrite find_add. unfold set. destruct (Pos.eqb_spec j i) as [->|N]; [|apply HR]. intros Ey. injection Ey as <-.
    cbn [read]. rewrite Ho, Er. split; [reflexivity|]. apply Z.mod_pos_bound. lia.
  - destruct (sym_offset p reads wnames s x) as [r|] eqn:E; [|discriminate]. pose proof (sym_offset_ok _ _ _ HR _ E) as Er.
    cbv zeta. set (off := word_value cd (wrds f) x) in *.
    destruct (split p split_fuel _ s) as [l|] eqn:S0; [|discriminate].
    destruct (split_ok _ _ _ _ S0 HF) as [s' [I [A [B T1]]]]. cbn [Sound.ceval] in I. rewrite Er in I. fold p in I.
    destruct (each_in _ _ _ I _ _ _ H) as [g1 [g2 [c [Q [Mo Inc]]]]].
    { intros [[] s1] h h' c Q; [injection Q as <- <-; apply more_refl | eapply sym_more; exact Q]. }
    cbn beta iota in Q.
    pose proof (cdword_range cd off cd_bytes) as Rg.
    destruct (Z.leb_spec p (cdword cd off)) as [L|L].
    + injection Q as <- <-. destruct (Z.ltb_spec (cdword cd off) p); [lia|]. eexists; split; [apply Inc; left; reflexivity|].
      split; [reflexivity | exact T1].
    + destruct (Z.ltb_spec (cdword cd off) p); [|lia].
      destruct (IH _ _ _ _ (Frame (set (vals f) i (cdword cd off)) (wrds f)) Q (more_ok _ _ Mo G)) as [y0 [Ix Fx]];
        [| exact T1 | exists y0; split; [apply Inc; exact Ix | exact Fx]].
      split; cbn [ren pwords vals wrds]; rewrite ?A, ?B; [|apply HR]. intros j y. rewrite find_add. unfold set.
      destruct (Pos.eqb_spec j i) as [->|N]; [|apply HR]. intros Ey. injection Ey as <-. cbn [read]. rewrite Er. split; [reflexivity | lia].
  - destruct (sym_operand p (ren s) x) as [y|] eqn:E; [|discriminate].
    eapply IH; [exact H | exact G | | exact HF]. apply rel_learn; [exact HR|].
    destruct (sym_operand_ok _ _ _ _ HR E) as [Ey Rg].
    match goal with |- is_word _ (SB ?c) => replace (read (vals f) x =? 0) with (ceval c) end;
      [apply truth_word; assumption|].
    cbn [Sound.ceval]. fold p. rewrite <- (Z.mod_small (read (vals f) x) p Rg), Ey. apply cong_zero.
    destruct y as [j|c]; cbn [read]; [exists 0; cbn [den]; ring | apply den_const; assumption].
  - destruct (sym_word p reads wnames s x) as [y|] eqn:E; [|discriminate].
    eapply IH; [exact H | exact G | | exact HF]. apply rel_learn; [exact HR | eapply sym_word_ok; eassumption].
  - destruct (split_word p reads wnames s x) as [l|] eqn:S0; [|discriminate].
    destruct (split_word_ok _ _ _ _ HR S0 HF) as [s' [I [R1 T1]]].
    destruct (each_in _ _ _ I _ _ _ H) as [g1 [g2 [c [Q [Mo Inc]]]]].
    { intros [[] s1] h h' c Q; [injection Q as <- <-; apply more_refl | eapply sym_more; exact Q]. }
    cbn beta iota in Q.
    destruct (word_value cd (wrds f) x =? 0).
    + injection Q as <- <-. eexists; split; [apply Inc; left; reflexivity | split; [reflexivity | exact T1]].
    + destruct (IH _ _ _ _ _ Q (more_ok _ _ Mo G) R1 T1) as [y [Iy Fy]]. exists y. split; [apply Inc; exact Iy | exact Fy].
  - destruct (split_word p reads wnames s x) as [l|] eqn:S0; [|discriminate].
    destruct (split_word_ok _ _ _ _ HR S0 HF) as [s' [I [R1 T1]]].
    assert (rest : forall y h h' c, match y with At s => sym p reads wnames k h s | End _ _ => Some (h, [y]) end = Some (h', c) -> more h h')
      by (intros [s2|F o] h h' c Q; [eapply sym_more; exact Q | injection Q as <- <-; apply more_refl]).
    destruct (each_in _ _ _ I _ _ _ H) as [g1 [g2 [c [Q [Mo Inc]]]]].
    { intros [z s1] h h' c Q.
      assert (K : forall h1 a1, (if z then sym p reads wnames u h s1 else sym p reads wnames t h s1) = Some (h1, a1) -> more h h1)
        by (intros h1 a1; destruct z; apply sym_more).
      destruct (if z then sym p reads wnames u h s1 else sym p reads wnames t h s1) as [[h1 a1]|]; [|discriminate].
      eapply more_trans; [eapply K; reflexivity | eapply each_more; [exact rest | exact Q]]. }
    cbn beta iota in Q.
    set (z := word_value cd (wrds f) x =? 0) in *.
    destruct (if z then sym p reads wnames u g1 s' else sym p reads wnames t g1 s') as [[h1 a1]|] eqn:Ar; [|discriminate].
    pose proof (each_more _ _ rest _ _ _ Q) as Mo1.
    assert (exists y, In y a1 /\ fin_ok y (if z then mean p cd u f else mean p cd t f)) as [y [Iy Fy]].
    { pose proof (more_ok _ _ Mo1 (more_ok _ _ Mo G)) as G1.
      destruct z; [eapply IHu | eapply IHt]; eassumption. }
    destruct (each_in _ _ _ Iy _ _ _ Q rest) as [h2 [h3 [c' [Q' [Mo' Inc']]]]].
    destruct y as [s2|F o].
    + destruct (if z then mean p cd u f else mean p cd t f) as [f2|]; [|destruct Fy]. destruct Fy as [R2 T2].
      destruct (IH _ _ _ _ _ Q' (more_ok _ _ Mo' (more_ok _ _ Mo G)) R2 T2) as [v [Iv Fv]].
      exists v. split; [apply Inc, Inc'; exact Iv | exact Fv].
    + injection Q' as <- <-. exists (End F o). split; [apply Inc, Inc'; left; reflexivity|].
      destruct (if z then mean p cd u f else mean p cd t f) as [f2|]; [destruct o; destruct Fy | exact Fy].
  - destruct (sym_operands p (ren s) args) as [l|] eqn:E; [|discriminate].
    destruct (sym p reads wnames b g _) as [[h1 a1]|] eqn:Ar; [|discriminate].
    assert (rest : forall y h h' c, match y with
        | At s' => match sym_operands p (ren s') gives with
                   | Some l => sym p reads wnames k h (Path (sym_moved rs l (ren s)) (pwords s) (facts s')) | None => None end
        | End _ _ => Some (h, [y]) end = Some (h', c) -> more h h').
    { intros [s2|F o] h h' c Q; [|injection Q as <- <-; apply more_refl].
      destruct (sym_operands p (ren s2) gives); [eapply sym_more; exact Q | discriminate]. }
    pose proof (each_more _ _ rest _ _ _ H) as Mo1.
    destruct (IHb _ _ _ _ (Frame (moved ps (map (read (vals f)) args) (fun _ => 0)) (fun _ => 0)) Ar (more_ok _ _ Mo1 G)) as [y [Iy Fy]];
      [| exact HF |].
    { split; cbn [ren pwords vals wrds]; [|intros w x Ex; rewrite PositiveMap.gempty in Ex; discriminate].
      eapply moved_ok; [eapply sym_operands_ok; eassumption | reflexivity|].
      intros i x Ex; rewrite PositiveMap.gempty in Ex; discriminate. }
    destruct (each_in _ _ _ Iy _ _ _ H rest) as [h2 [h3 [c' [Q' [Mo' Inc']]]]].
    match type of Fy with fin_ok _ ?m => set (callee := m) in * end.
    destruct y as [s2|F o].
    + destruct callee as [f2|]; [|destruct Fy]. destruct Fy as [R2 T2].
      destruct (sym_operands p (ren s2) gives) as [ys|] eqn:Eg; [|discriminate].
      destruct (IH _ _ _ _ (Frame (moved rs (map (read (vals f2)) gives) (vals f)) (wrds f)) Q' (more_ok _ _ Mo' G)) as [v [Iv Fv]];
        [| exact T2 | exists v; split; [apply Inc'; exact Iv | exact Fv]].
      split; cbn [ren pwords vals wrds]; [|apply HR].
      eapply moved_ok; [eapply sym_operands_ok; eassumption | reflexivity | apply HR].
    + injection Q' as <- <-. exists (End F o). split; [apply Inc'; left; reflexivity|].
      destruct callee as [f2|]; [destruct o; destruct Fy | exact Fy].
  - destruct (sym_operands p (ren s) l) as [ys|] eqn:E; [|discriminate]. destruct (values_of ys) as [m|] eqn:Vs; [|discriminate].
    injection H as <- <-. eexists; split; [left; reflexivity|]. cbn [fin_ok]. apply values_of_ok in Vs. subst ys.
    pose proof (sym_operands_ok _ _ _ HR _ E) as F2. destruct (returned_values 32 _ _ _ F2) as [R1 R2].
    split; [rewrite R1; reflexivity | split; assumption].
  - destruct (sym_word p reads wnames s x) as [[| | |c| |]|] eqn:E; try discriminate. injection H as <- <-.
    eexists; split; [left; reflexivity|]. split; [|exact HF]. pose proof (sym_word_ok _ _ _ HR _ E) as [_ ->]. reflexivity.
  - destruct (if 32 <=? n then _ else None) as [r|] eqn:E; [|discriminate]. destruct (Z.leb_spec 32 n); [|discriminate].
    pose proof (found_ok _ _ _ _ E) as Er. unfold named_value in Er. cbn [part_value] in Er. replace (32 + (n - 32)) with n in Er by lia.
    cbv zeta. set (v := cdnumber cd off n) in *.
    destruct (split p split_fuel _ s) as [l|] eqn:S0; [|discriminate].
    destruct (split_ok _ _ _ _ S0 HF) as [s' [I [A [B T1]]]]. cbn [Sound.ceval] in I. rewrite Er in I. fold p in I.
    destruct (each_in _ _ _ I _ _ _ H) as [g1 [g2 [c [Q [Mo Inc]]]]].
    { intros [[] s1] h h' c Q; [injection Q as <- <-; apply more_refl | eapply sym_more; exact Q]. }
    cbn beta iota in Q. pose proof (no_sign r) as Rg. rewrite Er in Rg.
    destruct (Z.leb_spec p v) as [L|L].
    + injection Q as <- <-. destruct (Z.ltb_spec v p); [lia|]. eexists; split; [apply Inc; left; reflexivity|].
      split; [reflexivity | exact T1].
    + destruct (Z.ltb_spec v p); [|lia].
      destruct (IH _ _ _ _ (Frame (set (vals f) i v) (wrds f)) Q (more_ok _ _ Mo G)) as [y0 [Ix Fx]];
        [| exact T1 | exists y0; split; [apply Inc; exact Ix | exact Fx]].
      split; cbn [ren pwords vals wrds]; rewrite ?A, ?B; [|apply HR]. intros j y. rewrite find_add. unfold set.
      destruct (Pos.eqb_spec j i) as [->|N]; [|apply HR]. intros Ey. injection Ey as <-. cbn [read]. rewrite Er. split; [reflexivity | lia].
  - destruct (sym_operands p (ren s) l) as [ys|] eqn:E; [|discriminate]. destruct (values_of ys) as [m|] eqn:Vs; [|discriminate].
    injection H as <- <-. eexists; split; [left; reflexivity|]. cbn [fin_ok]. apply values_of_ok in Vs. subst ys.
    pose proof (sym_operands_ok _ _ _ HR _ E) as F2. destruct (returned_values (Z.to_nat n) _ _ _ F2) as [R1 R2].
    split; [rewrite R1; reflexivity | split; assumption].
Qed.

(* ---- tables ---- *)

Lemma join_op_ok cuts joined T o T' : tables_ok P e T -> holds p e o -> join_op p cuts joined T o = Some T' -> tables_ok P e T'.
Proof.
  intros HT Ho H. unfold join_op in H. destruct (M.find (out o) joined) as [j|]; [|eapply add_op_ok; eassumption].
  destruct (add_op p (M.empty unit) T o) as [T1|] eqn:A; [|discriminate].
  assert (H1 : tables_ok P e T1) by (eapply add_op_ok; eauto).
  assert (E : forall u v, seqb u v = true -> den e u == den e v) by (intros u v Q; apply seqb_ok in Q; subst; apply cong_refl).
  assert (J : e (out o) == e j /\ Some (Tables (M.add (out o) [(j, 1)] (sums T)) (products T) (defs T)) = Some T').
  { destruct (M.find (out o) (products T1)) as [[a b]|] eqn:Fp.
    - destruct (M.find j (products T)) as [[x y]|] eqn:Fj; [|discriminate].
      apply (products_ok _ _ _ H1) in Fp. apply (products_ok _ _ _ HT) in Fj.
      destruct ((seqb a x && seqb b y) || (seqb a y && seqb b x)) eqn:Q; [|discriminate]. split; [|exact H].
      eapply cong_trans; [exact Fp|]. eapply cong_trans; [|apply cong_sym; exact Fj].
      apply orb_prop in Q as [Q|Q]; apply andb_prop in Q as [Qa Qb]; apply E in Qa, Qb.
      + apply cong_mul; assumption.
      + rewrite (Z.mul_comm (den e x)). apply cong_mul; assumption.
    - destruct (M.find (out o) (sums T1)) as [s|] eqn:Fs; [|discriminate].
      destruct (M.find j (defs T)) as [d|] eqn:Fd; [|discriminate].
      destruct (seqb s d) eqn:Q; [|discriminate]. split; [|exact H]. apply E in Q.
      apply (sums_ok _ _ _ H1) in Fs. apply (defs_ok _ _ _ HT) in Fd.
      eapply cong_trans; [exact Fs|]. eapply cong_trans; [exact Q | apply cong_sym; exact Fd]. }
  destruct J as [J H']. injection H' as <-. destruct HT as [Q1 Q2 Q3]. split; cbn [sums products defs]; [|exact Q2 | exact Q3].
  intros i s. rewrite find_add. destruct (Pos.eqb_spec i (out o)) as [->|N]; [|apply Q1].
  intros Es. injection Es as <-. rewrite den_one. exact J.
Qed.

Lemma join_ops_ok cuts joined l : forall T T', tables_ok P e T -> Forall (holds p e) l -> join_ops p cuts joined T l = Some T' -> tables_ok P e T'.
Proof.
  induction l as [|o l IH]; intros T T' HT Hl H; cbn in H; [injection H as <-; exact HT|].
  destruct (join_op p cuts joined T o) as [T1|] eqn:E; [|discriminate]. inversion Hl; subst.
  eapply IH; [eapply join_op_ok; eauto | assumption | exact H].
Qed.

(* ---- code on a path ---- *)

Variable T : tables.
Hypothesis HT : tables_ok P e T.

Lemma lifted_ok c : ceval (lifted T c) = ceval c.
Proof.
  destruct c as [| | | |s| |]; try reflexivity. destruct s as [|[i m] [|x s]]; try reflexivity. cbn [lifted].
  destruct (Z.eqb_spec m 1) as [->|]; [|reflexivity]. destruct (M.find i (sums T)) as [t|] eqn:Q; [|reflexivity].
  cbn [Sound.ceval]. apply (sums_ok _ _ _ HT) in Q. rewrite den_one. symmetry. apply cong_zero. exact Q.
Qed.

Lemma told_ok c : forall b, ceval c = b -> truths (told c b).
Proof.
  induction c as [n|i|a IH|i n|s|l|a IHa b IHb]; intros v H; try (constructor; [exact H | constructor]).
  - apply IH. cbn in H. destruct (ceval a), v; reflexivity || discriminate.
  - destruct v; [|constructor; [exact H | constructor]]. cbn in H. apply andb_prop in H as [Ha Hb].
    apply Forall_app. split; [apply IHa; exact Ha | apply IHb; exact Hb].
Qed.

Lemma element_ok F w x : truths F -> is_word w x -> is_word w (element p F x).
Proof.
  intros HF H. destruct x as [|i| | | |]; try exact H. cbn [element].
  destruct (look p F (CNotBelow i)) as [[]|] eqn:D; try exact H. apply (look_ok _ _ _ HF) in D. cbn in D.
  apply Z.leb_gt in D. fold p in D. destruct H as [R ->]. split; [exact R|]. split; [lia|]. exists 0. cbn [den]. ring.
Qed.

Lemma ready_ok F i s k m mw : truths F -> match_ok P cd e k m mw s -> match_ok P cd e k m mw (ready p F i s).
Proof.
  intros HF [Hk Hm Hw]. unfold ready. destruct (arithmetic i); [|split; assumption].
  generalize (match i with MOD => 1%nat | _ => 2%nat end). intros n.
  split; cbn [sstack smem Check.smw]; [|assumption|assumption].
  rewrite <- (firstn_skipn n (sstack s)) in Hk. unfold stack_ok in *.
  apply Forall2_app_inv_r in Hk as [u [v [A [B ->]]]]. apply Forall2_app; [|exact B].
  clear B. induction A as [|w x u xs Hx _ IHA]; cbn [map]; constructor; [apply element_ok; assumption | exact IHA].
Qed.

(* The path that calldata takes, and the end of the program. *)
Variable taken : way.
Hypothesis true_way : truths (fst taken).
Variable o : outcome.
(* Where a loop's next turn begins, and the gas with which code ends rightly from there on: so much, and some more that is known outside. *)
Variable turn_at : list Z -> bool.
Variable arrives : sstate -> list fact -> path -> bool.
Variables after extra : Z.
Hypothesis after_pos : 0 <= after.
Hypothesis extra_pos : 0 <= extra.
Hypothesis ending : match snd taken with
  | Fails => o = Failed
  | Returns l => o = Returned (concat (map (fun i => bytes_of 32 (e i)) l)) /\ forall i, In i l -> 0 <= e i < p
  | Tells c => o = Returned (bytes_of 32 (b2z (ceval c)))
  | ReturnsBytes n l => o = Returned (concat (map (fun i => bytes_of (Z.to_nat n) (e i)) l)) /\ forall i, In i l -> 0 <= e i < p
  | Again q => forall k m mw pc gas s, match_ok P cd e k m mw s -> turn_at (skipn pc code) = true -> arrives s (fst taken) q = true ->
      after + extra <= gas -> Eval code cd (State k m mw pc gas) o
  end.

Lemma where_ok c b l : In taken l -> ceval c = b -> In taken (where_ p c b l).
Proof.
  intros I H. unfold where_. apply filter_In. split; [exact I|].
  destruct (decide p (fst taken) c) as [b'|] eqn:D; [|reflexivity]. apply (decide_ok _ _ true_way) in D.
  apply Bool.eqb_true_iff. congruence.
Qed.

Lemma plus_inv c r g hs names : plus c r = Some (g, hs, names) -> exists h, r = Some (h, hs, names) /\ g = c + h.
Proof. destruct r as [[[h hs1] ns]|]; [|discriminate]. intros H. exists h. injection H as <- <- <-. split; reflexivity. Qed.

Notation walk := (walk p reads wnames code turn_at arrives after).

Lemma walk_nonneg fuel : forall T ways F rest names s g hs ns, walk fuel T ways F rest names s = Some (g, hs, ns) -> 0 <= g.
Proof.
  induction fuel as [|fuel IH]; intros T0 ways F rest names s g hs ns H; [discriminate|].
  cbn [CheckFlow.walk] in H. destruct (decode rest) as [i n].
  assert (plain :
    match sinstr p T0 reads i (widened i (ready p F i s)) with
    | Some (cost, s) =>
        let '(f, names) := if arithmetic i then match names with f :: r => (f, r) | [] => (None, []) end
                           else (None, names) in
        match named p T0 f s with
        | Some s =>
            if (0 <=? cost) && within (sstack s) then plus cost (walk fuel T0 ways F (skipn n rest) names s) else None
        | None => None
        end
    | None =>
        match word_step p wnames (element p F) i s with
        | Some (cost, s) => if within (sstack s) then plus cost (walk fuel T0 ways F (skipn n rest) names s) else None
        | None => None
        end
    end = Some (g, hs, ns) -> 0 <= g).
  { clear H. intros H. destruct (sinstr p T0 reads i (widened i (ready p F i s))) as [[cost s1]|].
    2: { destruct (word_step p wnames (element p F) i s) as [[cost s1]|] eqn:Ws; [|discriminate]. destruct (within _); [|discriminate].
         apply plus_inv in H as [h [R ->]]. apply IH in R. apply word_step_cost in Ws. lia. }
    match type of H with (let '(_, _) := ?x in _) = _ => destruct x as [f names'] end.
    destruct (named p T0 f s1) as [s'|]; [|discriminate]. destruct (Z.leb_spec 0 cost); [|discriminate].
    destruct (within (sstack s')); [|discriminate]. apply plus_inv in H as [h [R ->]]. apply IH in R. lia. }
  destruct i; try (apply plain; exact H).
  - destruct (sstack s) as [|d r]; [discriminate|]. destruct (exactly d); [|discriminate]. destruct (_ && _); [|discriminate].
    apply plus_inv in H as [h [R ->]]. apply IH in R. lia.
  - destruct (sstack s) as [|d [|x r]]; try discriminate. destruct (exactly d) as [dv|]; [|discriminate].
    destruct (iszero p x) as [c|]; [|discriminate]. destruct (within r); [|discriminate].
    match type of H with match ?t with _ => _ end = _ => destruct t as [[[g1 hs1] ns1]|] eqn:On; [|discriminate] end.
    assert (0 <= g1).
    { destruct (where_ p c true ways); [injection On as <- <- <-; lia | apply IH in On; exact On]. }
    destruct (where_ p c false ways) as [|w l]; [assert (g = 10 + g1) by congruence; lia|].
    destruct (_ && _); [|discriminate].
    match type of H with match ?t with _ => _ end = _ => destruct t as [[[g2 hs2] ns2]|]; [|discriminate] end.
    assert (g = 10 + Z.max g1 g2) by congruence. lia.
  - destruct (forallb again ways && turn_at rest); [|apply plain; exact H]. destruct (forallb (comes arrives s) ways); [|discriminate].
    injection H as <- _ _. exact after_pos.
  - destruct (sstack s) as [|x [|y r]]; try discriminate. destruct (slot_of x) as [[a key]|]; [|discriminate].
    destruct (exactly y) as [v|]; [|discriminate]. destruct (forallb _ ways); [|discriminate]. cbn [andb] in H.
    destruct (0 <=? _) eqn:C; [|discriminate]. apply Z.leb_le in C. injection H as <- _ _. exact C.
  - destruct (forallb failed ways); [|discriminate]. injection H as <- _ _. lia.
Qed.

Lemma walk_ok fuel : forall pc ways F names s g hs ns k m mw gas, match_ok P cd e k m mw s -> In taken ways -> truths F ->
  walk fuel T ways F (skipn pc code) names s = Some (g, hs, ns) -> g + extra <= gas -> Eval code cd (State k m mw pc gas) o.
Proof.
  induction fuel as [|fuel IH]; intros pc ways F names s g hs ns k m mw gas HM I HF H G; [discriminate|].
  pose proof (walk_nonneg _ _ _ _ _ _ _ _ _ _ H) as N0.
  cbn [CheckFlow.walk] in H. destruct (decode (skipn pc code)) as [i n] eqn:D.
  assert (plain :
    match sinstr p T reads i (widened i (ready p F i s)) with
    | Some (cost, s) =>
        let '(f, names) := if arithmetic i then match names with f :: r => (f, r) | [] => (None, []) end
                           else (None, names) in
        match named p T f s with
        | Some s =>
            if (0 <=? cost) && within (sstack s) then plus cost (walk fuel T ways F (skipn n (skipn pc code)) names s) else None
        | None => None
        end
    | None =>
        match word_step p wnames (element p F) i s with
        | Some (cost, s) => if within (sstack s) then plus cost (walk fuel T ways F (skipn n (skipn pc code)) names s) else None
        | None => None
        end
    end = Some (g, hs, ns) -> Eval code cd (State k m mw pc gas) o).
  { clear H. intros H. destruct (sinstr p T reads i (widened i (ready p F i s))) as [[cost s1]|] eqn:X.
    2: { destruct (word_step p wnames (element p F) i s) as [[cost s1]|] eqn:Ws; [|discriminate]. destruct (within _) eqn:Wi; [|discriminate].
         apply plus_inv in H as [h [R ->]]. rewrite skipn_skipn' in R. pose proof (walk_nonneg _ _ _ _ _ _ _ _ _ _ R) as N1.
         destruct (word_step_ok code _ _ _ _ _ _ _ _ (pc + n)%nat (fun w x => element_ok F w x HF) HM Ws) as [C0 [k' [E HM']]].
         eapply Eval_step; [|apply (IH _ _ _ _ _ _ _ _ k' m mw (gas - cost) HM' I HF R); lia].
         unfold step. cbn [Evm.pc Evm.stack Evm.mem Evm.mwords Evm.gas]. rewrite D, E. destruct (Z.ltb_spec gas cost); [lia|].
         rewrite (stack_length _ _ _ _ _ (ms_stack _ _ _ _ _ _ _ HM')). apply Z.leb_le in Wi.
         destruct (Z.ltb_spec 1024 (Z.of_nat (length (sstack s1)))); [lia|]. reflexivity. }
    match type of H with (let '(_, _) := ?x in _) = _ => destruct x as [f names'] end.
    destruct (named p T f s1) as [s'|] eqn:Nm; [|discriminate].
    destruct (Z.leb_spec 0 cost); [|discriminate]. destruct (within (sstack s')) eqn:Wi; [|discriminate]. cbn [andb] in H.
    apply plus_inv in H as [h [R ->]]. rewrite skipn_skipn' in R. pose proof (walk_nonneg _ _ _ _ _ _ _ _ _ _ R) as N1.
    destruct (sinstr_ok P cd cd_bytes cd_short code p_pos e one parsed T i _ cost s1 k m mw (pc + n)%nat HT
      (widened_ok i _ _ _ _ (ready_ok F i _ _ _ _ HF HM)) X) as [k' [m' [mw' [E HM1]]]].
    pose proof (named_ok _ _ _ _ _ _ _ _ _ _ HT HM1 Nm) as HM'.
    eapply Eval_step; [|apply (IH _ _ _ _ _ _ _ _ k' m' mw' (gas - cost) HM' I HF R); lia].
    unfold step. cbn [Evm.pc Evm.stack Evm.mem Evm.mwords Evm.gas].
    rewrite D, E. destruct (Z.ltb_spec gas cost); [lia|].
    rewrite (stack_length _ _ _ _ _ (ms_stack _ _ _ _ _ _ _ HM')). apply Z.leb_le in Wi.
    destruct (Z.ltb_spec 1024 (Z.of_nat (length (sstack s')))); [lia|]. reflexivity. }
  destruct s as [ss sm mw0 hs0]. cbn [sstack smem Check.smw hints] in *.
  assert (Hst : stack_ok P cd e k ss) by apply HM. assert (Hmem : mem_ok P cd e m sm) by apply HM.
  assert (Hmw : mw = mw0) by apply HM.
  destruct i; try (apply plain; exact H).
  - (* JUMP *)
    destruct ss as [|d r]; [discriminate|]. destruct (exactly d) as [dv|] eqn:X; [|discriminate].
    destruct (Z.leb_spec 0 dv); [|discriminate]. destruct (valid code dv) eqn:V; [|discriminate].
    destruct (within r) eqn:Wi; [|discriminate]. cbn [andb] in H.
    apply plus_inv in H as [h [R ->]]. pose proof (walk_nonneg _ _ _ _ _ _ _ _ _ _ R) as N1.
    inversion Hst as [|w ? k1 ? Hw Hk1]; subst. apply (exactly_ok _ _ _ _ _ _ Hw) in X. subst w.
    eapply Eval_step; [|eapply (IH (Z.to_nat dv) _ _ _ _ _ _ _ k1 m mw0 (gas - 8)); [| exact I | exact HF | exact R | lia]].
    + unfold step. cbn [Evm.pc Evm.stack Evm.mem Evm.mwords Evm.gas]. rewrite D. cbn [exec]. rewrite V.
      apply Z.leb_le in Wi. rewrite (stack_length _ _ _ _ _ Hk1). destruct (Z.ltb_spec gas 8); [lia|].
      destruct (Z.ltb_spec 1024 (Z.of_nat (length r))); [lia | reflexivity].
    + split; cbn [sstack smem Check.smw]; auto.
  - (* JUMPI *)
    destruct ss as [|d [|x r]]; try discriminate. destruct (exactly d) as [dv|] eqn:X; [|discriminate].
    destruct (iszero p x) as [c|] eqn:Z0; [|discriminate]. destruct (within r) eqn:Wi; [|discriminate].
    inversion Hst as [|w ? k1 ? Hw Hk1]; subst. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst.
    apply (exactly_ok _ _ _ _ _ _ Hw) in X. subst w. apply (iszero_ok P cd p_pos e _ _ _ Hu) in Z0.
    apply Z.leb_le in Wi. pose proof (stack_length _ _ _ _ _ Hk2) as Len.
    assert (HM2 : forall hs, match_ok P cd e k2 m mw0 (S r sm mw0 hs)) by (intros; split; cbn [sstack smem Check.smw]; auto).
    match type of H with match ?t with _ => _ end = _ => destruct t as [[[g1 hs1] ns1]|] eqn:On; [|discriminate] end.
    assert (N1 : 0 <= g1).
    { destruct (where_ p c true ways); [injection On as <- _ _; lia | apply walk_nonneg in On; exact On]. }
    destruct (ceval c) eqn:Ec.
    + pose proof (where_ok _ _ _ I Ec) as I1. destruct (where_ p c true ways) as [|w l]; [destruct I1|].
      assert (g1 + extra + 10 <= gas).
      { destruct (where_ p c false ways) as [|w' l']; [assert (g = 10 + g1) by congruence; lia|].
        destruct (_ && _); [|discriminate].
        match type of H with match ?t with _ => _ end = _ => destruct t as [[[g2 hs2] ns2]|]; [|discriminate] end.
        assert (g = 10 + Z.max g1 g2) by congruence. lia. }
      rewrite skipn_skipn' in On.
      eapply Eval_step; [|eapply (IH (pc + n)%nat _ _ _ _ _ _ _ k2 m mw0 (gas - 10) (HM2 _) I1); [| exact On | lia]].
      * unfold step. cbn [Evm.pc Evm.stack Evm.mem Evm.mwords Evm.gas]. rewrite D. cbn [exec]. rewrite Z0.
        destruct (Z.ltb_spec gas 10); [lia|]. destruct (Z.ltb_spec 1024 (Z.of_nat (length k2))); [lia | reflexivity].
      * apply Forall_app. split; [apply told_ok; exact Ec | exact HF].
    + pose proof (where_ok _ _ _ I Ec) as I1. destruct (where_ p c false ways) as [|w l]; [destruct I1|].
      destruct (Z.leb_spec 0 dv); [|discriminate]. destruct (valid code dv) eqn:V; [|discriminate]. cbn [andb] in H.
      match type of H with match ?t with _ => _ end = _ => destruct t as [[[g2 hs2] ns2]|] eqn:Off; [|discriminate] end.
      pose proof (walk_nonneg _ _ _ _ _ _ _ _ _ _ Off) as N2. assert (Eg : g = 10 + Z.max g1 g2) by congruence.
      eapply Eval_step; [|eapply (IH (Z.to_nat dv) _ _ _ _ _ _ _ k2 m mw0 (gas - 10) (HM2 _) I1); [| exact Off | lia]].
      * unfold step. cbn [Evm.pc Evm.stack Evm.mem Evm.mwords Evm.gas]. rewrite D. cbn [exec]. rewrite Z0, V.
        destruct (Z.ltb_spec gas 10); [lia|]. destruct (Z.ltb_spec 1024 (Z.of_nat (length k2))); [lia | reflexivity].
      * apply Forall_app. split; [apply told_ok; exact Ec | exact HF].
  - (* JUMPDEST *)
    destruct (forallb again ways && turn_at (skipn pc code)) eqn:At; [|apply plain; exact H]. apply andb_prop in At as [_ At].
    destruct (forallb _ ways) eqn:All; [|discriminate].
    injection H as <- _ _. rewrite forallb_forall in All. specialize (All _ I). unfold comes in All.
    destruct (snd taken) as [| | |q|]; try discriminate. eapply ending; eassumption.
  - (* RETURN *)
    destruct ss as [|x [|y r]]; try discriminate. destruct (slot_of x) as [[a key]|] eqn:X; [|discriminate].
    destruct (exactly y) as [v|] eqn:Y; [|discriminate]. destruct (forallb _ ways) eqn:All; [|discriminate]. cbn [andb] in H.
    destruct (0 <=? _) eqn:Cost; [|discriminate]. injection H as <- _ _. rewrite forallb_forall in All.
    specialize (All _ I). unfold returned in All.
    inversion Hst as [|w ? k1 ? Hw Hk1]; subst. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst.
    destruct (slot_ok _ _ _ _ _ _ _ Hw X) as [-> [Ha E]]. apply (exactly_ok _ _ _ _ _ _ Hu) in Y. subst u.
    assert (o = Returned (mbytes m a (Z.to_nat v))) as ->.
    { destruct (snd taken) as [|l|c|l|]; try discriminate; apply andb_prop in All as [Ev Rt]; apply Z.eqb_eq in Ev; subst v.
      - destruct ending as [-> small]. f_equal. replace (Z.to_nat (32 * Z.of_nat (length l))) with (32 * length l)%nat by lia.
        rewrite E. symmetry. eapply returns_ok; eassumption.
      - rewrite ending. f_equal. destruct (M.find key sm) as [[| | |c'| |]|] eqn:F0; try discriminate.
        apply (mem_words _ _ _ _ _ Hmem) in F0 as [_ F0]. change (Z.to_nat 32) with 32%nat. rewrite mload_bytes by apply Hmem.
        rewrite E, F0, (same_ok _ _ Rt). reflexivity. }
    apply Eval_halt. unfold step. cbn [Evm.pc Evm.stack Evm.mem Evm.mwords Evm.gas]. rewrite D. cbn [exec].
    match goal with |- context [gas <? ?c] => destruct (Z.ltb_spec gas c); [lia|] end. reflexivity.
  - (* INVALID *)
    destruct (forallb failed ways) eqn:All; [|discriminate]. rewrite forallb_forall in All. specialize (All _ I).
    unfold failed in All. destruct (snd taken); try discriminate. subst o.
    apply Eval_halt. unfold step. cbn [Evm.pc Evm.stack Evm.mem Evm.mwords Evm.gas]. rewrite D. cbn [exec].
    destruct (_ <? 0); reflexivity.
Qed.
End Flow.

Lemma truths_lifted P cd e T F : tables_ok P e T -> truths P cd e F -> truths P cd e (map (fun f => (lifted T (fst f), snd f)) F).
Proof.
  intros HT H. unfold truths in *. apply Forall_map. eapply Forall_impl; [|exact H]. intros [c b] E. cbn [fst snd] in *.
  rewrite lifted_ok; assumption.
Qed.

Lemma ways_of_in T l x : In x l -> forall ways, ways_of T l = Some ways -> exists w, way_of T x = Some w /\ In w ways.
Proof.
  induction l as [|y l IH]; intros I ways H; [destruct I|]. cbn in H. destruct (way_of T y) as [w|] eqn:E; [|discriminate].
  destruct (ways_of T l) as [ws|]; [|discriminate]. injection H as <-. destruct I as [->|I].
  - exists w. split; [exact E | left; reflexivity].
  - destruct (IH I _ eq_refl) as [v [A B]]. exists v. split; [exact A | right; exact B].
Qed.

(* Values of a program with words that are operations. *)
Definition eval_words (cd : list Z) (l : list named_word) (e : env) : env :=
  fold_left (fun e '(i, (o, a, b)) => set e i (named_value cd e o a b)) l e.
Definition flow_env (Q : program) (l : list named_word) (cd : list Z) : env :=
  eval_ops (modulus Q) (ops Q) (eval_words cd l (first Q cd)).

Lemma words_ascend_le l : forall least top, words_ascend least l = Some top -> (least <= top)%positive.
Proof.
  induction l as [|[i [[o a] b]] l IH]; intros least top H; cbn in H; [injection H as ->; lia|].
  destruct (Pos.leb_spec least i); [|discriminate]. cbn [andb] in H. destruct (before i a && before i b); [|discriminate]. apply IH in H. lia.
Qed.

Lemma eval_words_below cd l : forall least top e j, words_ascend least l = Some top -> (j < least)%positive -> eval_words cd l e j = e j.
Proof.
  induction l as [|[i [[o a] b]] l IH]; intros least top e j H L; [reflexivity|]. cbn in H.
  destruct (Pos.leb_spec least i); [|discriminate]. cbn [andb] in H. destruct (before i a && before i b); [|discriminate].
  unfold eval_words. cbn [fold_left]. fold (eval_words cd l (set e i (named_value cd e o a b))).
  rewrite (IH _ _ _ _ H) by lia. unfold set. destruct (Pos.eqb_spec j i); [lia | reflexivity].
Qed.

Lemma part_value_ext cd e e' i a : before i a = true -> (forall j, (j < i)%positive -> e j = e' j) -> part_value cd e a = part_value cd e' a.
Proof.
  intros B E. destruct a as [n| |j|l n]; cbn in *; try reflexivity.
  - apply E, Pos.ltb_lt, B.
  - apply andb_prop in B as [B _]. f_equal. induction l as [|j l IH]; [reflexivity|]. cbn in B |- *. apply andb_prop in B as [B1 B2].
    rewrite (E j) by (apply Pos.ltb_lt; exact B1). f_equal. apply IH. exact B2.
Qed.

Lemma eval_words_ok cd l : forall least top e i o a b, words_ascend least l = Some top -> In (i, (o, a, b)) l ->
  let e' := eval_words cd l e in
  (i < top)%positive /\ before i a = true /\ before i b = true /\ e' i = named_value cd e' o a b.
Proof.
  induction l as [|[i' [[o' a'] b']] l IH]; intros least top e i o a b H I; [destruct I|]. cbn in H.
  destruct (Pos.leb_spec least i'); [|discriminate]. cbn [andb] in H.
  destruct (before i' a') eqn:A; [|discriminate]. destruct (before i' b') eqn:B; [|discriminate]. cbn [andb] in H.
  unfold eval_words. cbn [fold_left]. set (e1 := set e i' (named_value cd e o' a' b')).
  fold (eval_words cd l e1). destruct I as [I|I]; [|exact (IH _ _ e1 _ _ _ _ H I)]. assert (i' = i /\ o' = o /\ a' = a /\ b' = b) as [-> [-> [-> ->]]] by (repeat split; congruence).
  split; [pose proof (words_ascend_le _ _ _ H); lia|]. split; [exact A|]. split; [exact B|].
  assert (same : forall j, (j < i)%positive -> eval_words cd l e1 j = e j).
  { intros j L. rewrite (eval_words_below _ _ _ _ _ _ H) by lia. unfold e1, set. destruct (Pos.eqb_spec j i); [lia | reflexivity]. }
  rewrite (eval_words_below _ _ _ _ _ _ H) by lia.
  unfold named_value. rewrite (part_value_ext _ _ _ _ _ A same), (part_value_ext _ _ _ _ _ B same).
  unfold e1, set. rewrite Pos.eqb_refl. reflexivity.
Qed.

Lemma flow_values_ok Q l cd least top : parses_ascend 2 (parses Q) = Some least -> words_ascend least l = Some top ->
  ascends top (ops Q) = true -> let e := flow_env Q l cd in
  e 1%positive = 1 /\ (forall i off, In (i, off) (parses Q) -> e i = cdword cd off) /\
  (forall i o a b, In (i, (o, a, b)) l -> e i = named_value cd e o a b) /\
  Forall (holds (modulus Q) e) (ops Q) /\ tables_ok Q e (flow_tables Q l).
Proof.
  intros Pa Wa As e. pose proof (parses_ascend_le _ _ _ Pa) as L1. pose proof (words_ascend_le _ _ _ Wa) as L2.
  set (e0 := eval_words cd l (first Q cd)) in *.
  assert (low : forall j, (j < top)%positive -> e j = e0 j) by (intros j L; apply (eval_ops_below _ _ _ _ _ As); exact L).
  split; [|split; [|split; [|split]]].
  - rewrite low by lia. unfold e0. rewrite (eval_words_below _ _ _ _ _ _ Wa) by lia. unfold first.
    rewrite (eval_parses_below _ _ _ _ _ _ Pa) by lia. reflexivity.
  - intros i off I. destruct (eval_parses_ok cd _ _ _ (fun i => if Pos.eqb i 1 then 1 else 0) _ _ Pa I) as [E L].
    rewrite low by lia. unfold e0. rewrite (eval_words_below _ _ _ _ _ _ Wa) by exact L. exact E.
  - intros i o a b I. destruct (eval_words_ok cd _ _ _ (first Q cd) _ _ _ _ Wa I) as [L [A [B E]]]. fold e0 in E.
    rewrite low by exact L. rewrite E.
    assert (X : part_value cd e0 a = part_value cd e a /\ part_value cd e0 b = part_value cd e b)
      by (split; apply (part_value_ext _ _ _ i); try assumption; intros j J; symmetry; apply low; lia).
    unfold named_value. destruct X as [-> ->]. reflexivity.
  - apply eval_ops_holds with (least := top). exact As.
  - assert (G0 : forall (A : Type) (l : list (positive * A)) m, (forall i s, PositiveMap.find i m = Some s -> cong (modulus Q) (e i) (den e s)) ->
      forall i s, PositiveMap.find i (fold_left (fun m '(i, _) => PositiveMap.add i [(i, 1)] m) l m) = Some s ->
      cong (modulus Q) (e i) (den e s)).
    { induction l0 as [|[j x] l0 IH]; intros m Hm; [exact Hm|]. cbn. apply IH. intros i s.
      rewrite find_add. destruct (Pos.eqb_spec i j) as [->|_]; [|apply Hm].
      intros E; injection E as <-. exists 0. cbn [den]. ring. }
    split; cbn [flow_tables start_tables sums products defs].
    + apply (G0 (instr * part * part)%type). apply (G0 Z). intros i s E. rewrite PositiveMap.gempty in E. discriminate.
    + intros i a b E. rewrite PositiveMap.gempty in E. discriminate.
    + intros i a E. rewrite PositiveMap.gempty in E. discriminate.
Qed.

(* Values are numbers from zero on. *)
Lemma bin_nonneg i a b : 0 <= a -> 0 <= b -> 0 <= bin i a b.
Proof.
  intros A B. pose proof W_pos. assert (T : forall c, 0 <= b2z c) by (intros []; cbn; lia).
  destruct i; cbn [bin]; try apply T; try (apply Z.mod_pos_bound; lia); try lia.
  - destruct (Z.eqb_spec b 0); [lia | apply Z.div_pos; lia].
  - destruct (Z.eqb_spec b 0); [lia|]. pose proof (Z.mod_pos_bound a b). lia.
  - apply Z.land_nonneg. lia.
  - apply Z.lor_nonneg. lia.
  - destruct (a <? 256); [apply Z.shiftr_nonneg; exact B | lia].
Qed.

Lemma part_nonneg cd e i a : before i a = true -> (forall j, 0 <= e j) -> 0 <= part_value cd e a.
Proof.
  intros B E. destruct a as [n| |j|l n]; cbn [part_value before] in *; [|lia | apply E|].
  - apply andb_prop in B as [B _]. apply Z.leb_le. exact B.
  - apply Z.shiftr_nonneg. induction l as [|j l IH]; cbn; [lia|]. apply Z.lor_nonneg. split; [apply E|].
    apply IH. cbn in B. apply andb_prop in B as [B B2]. apply andb_prop in B as [_ B]. rewrite B, B2. reflexivity.
Qed.

Lemma flow_no_sign Q l cd least top : 0 < modulus Q -> Forall is_byte cd -> words_ascend least l = Some top -> forall i, 0 <= flow_env Q l cd i.
Proof.
  intros Hp Hcd Wa. unfold flow_env, eval_ops, first, eval_parses.
  assert (A : forall l n, (forall i, 0 <= n i) -> forall i, 0 <= fold_left (fun e '(i, off) => set e i (cdword cd off)) (l : list (positive * Z)) n i).
  { induction l0 as [|[j off] l0 IH]; intros n Hn; [exact Hn|]. cbn [fold_left]. apply IH. intros i. unfold set.
    destruct (Pos.eqb i j); [apply cdword_range; exact Hcd | apply Hn]. }
  assert (B : forall l n, (forall i, 0 <= n i) -> forall i, 0 <= fold_left (eval_op (modulus Q)) l n i).
  { induction l0 as [|q l0 IH]; intros n Hn; [exact Hn|]. cbn [fold_left]. apply IH. intros i. unfold eval_op, set.
    destruct (Pos.eqb i (out q)); [destruct (what q); cbn; apply Z.mod_pos_bound; exact Hp | apply Hn]. }
  assert (D : forall l least n, words_ascend least l = Some top -> (forall i, 0 <= n i) -> forall i, 0 <= eval_words cd l n i).
  { induction l0 as [|[j [[o a] b]] l0 IH]; intros least0 n H Hn; [exact Hn|]. cbn in H.
    destruct (Pos.leb least0 j); [|discriminate]. destruct (before j a) eqn:Ba; [|discriminate]. destruct (before j b) eqn:Bb; [|discriminate].
    unfold eval_words. cbn [fold_left]. apply (IH _ _ H). intros i. unfold set.
    destruct (Pos.eqb i j); [|apply Hn]. assert (0 <= bin o (part_value cd n a) (part_value cd n b)) by (apply bin_nonneg; eapply part_nonneg; eassumption).
    unfold named_value. destruct o; try assumption. apply cdnumber_range; exact Hcd. }
  apply B, (D l _ _ Wa), A. intros i. destruct (Pos.eqb i 1); lia.
Qed.

(* An end that a program has on a path. *)
Definition way_ends (P : program) (cd : list Z) (e : env) (w : way) (o : outcome) : Prop :=
  let p := modulus P in
  match snd w with
  | Fails => o = Failed
  | Returns l => o = Returned (concat (map (fun i => bytes_of 32 (e i)) l)) /\ forall i, In i l -> 0 <= e i < p
  | Tells c => o = Returned (bytes_of 32 (b2z (ceval P cd e c)))
  | ReturnsBytes n l => o = Returned (concat (map (fun i => bytes_of (Z.to_nat n) (e i)) l)) /\ forall i, In i l -> 0 <= e i < p
  | Again _ => False
  end.

(* Of all calldata one of the paths is taken, and the program ends there. *)
Lemma all_paths_ok P h Q T ways : all_paths P h = Some (Q, T, ways) ->
  forall cd, Forall is_byte cd -> Z.of_nat (length cd) < W ->
  let e := flow_env Q (h_words h) cd in
  modulus Q = f_modulus P /\ parses Q = h_reads h /\ 1 < modulus Q /\
  e 1%positive = 1 /\ (forall i off, In (i, off) (parses Q) -> e i = cdword cd off) /\ (forall i, 0 <= e i) /\
  (forall i o a b, In (i, (o, a, b)) (h_words h) -> e i = named_value cd e o a b) /\ tables_ok Q e T /\
  exists w, In w ways /\ truths Q cd e (fst w) /\ way_ends Q cd e w (flow_meaning P cd).
Proof.
  unfold all_paths. intros H cd Hcd Len.
  destruct (parses_ascend 2 (h_reads h)) as [least|] eqn:Pa; [|discriminate].
  destruct (words_ascend least (h_words h)) as [first|] eqn:Wa; [|discriminate].
  destruct (sym _ _ _ _ _ _) as [[made l]|] eqn:Sy; [|discriminate].
  set (Q' := Program (f_modulus P) 0 (h_reads h) (rev (done made)) []) in *.
  destruct (Z.ltb_spec 1 (f_modulus P)) as [p1|]; [|discriminate].
  destruct (ascends first (ops Q')) eqn:As; [|discriminate]. cbn [andb] in H.
  destruct (join_ops _ _ _ _ _) as [T'|] eqn:Jo; [|discriminate].
  destruct (ways_of T' l) as [ws|] eqn:Wy; [|discriminate]. injection H as <- <- <-. set (e := flow_env Q' (h_words h) cd).
  destruct (flow_values_ok Q' (h_words h) cd least first Pa Wa As) as [one [parsed [worded [Holds T0]]]]. fold e in one, parsed, worded, Holds, T0.
  change (1 < modulus Q') in p1.
  assert (HT : tables_ok Q' e T') by (eapply join_ops_ok; eauto).
  assert (eqs : made_ok Q' e made).
  { unfold made_ok. cbn [ops Q'] in Holds. apply Forall_rev in Holds. rewrite rev_involutive in Holds. exact Holds. }
  assert (sign : forall i, 0 <= e i) by (eapply flow_no_sign; [lia | exact Hcd | exact Wa]).
  destruct (sym_ok Q' cd Hcd Len p1 e one parsed sign (h_words h) worded (f_body P) _ _ _ _ blank_frame Sy eqs) as [x [I Fx]].
  { split; cbn [ren pwords]; intros i y E; rewrite PositiveMap.gempty in E; discriminate. }
  { constructor. }
  change (modulus Q') with (f_modulus P) in Fx. destruct (ways_of_in _ _ _ I _ Wy) as [w [Ew Iw]].
  split; [reflexivity|]. split; [reflexivity|]. split; [exact p1|]. split; [exact one|]. split; [exact parsed|].
  split; [exact sign|]. split; [exact worded|]. split; [exact HT|]. exists w. split; [exact Iw|]. destruct x as [s|F goal]; [discriminate|]. injection Ew as <-.
  unfold flow_meaning, way_ends. cbn [fst snd].
  destruct (mean (f_modulus P) cd (f_body P) blank_frame) as [f|o]; [destruct goal; destruct Fx|].
  destruct goal as [|l0|c|l0|n0 l0]; cbn [fin_ok] in Fx; [| | |destruct Fx|].
  - split; [apply truths_lifted; [exact HT | apply Fx] | apply Fx].
  - destruct Fx as [A [B C]]. split; [apply truths_lifted; [exact HT | exact B] | split; assumption].
  - destruct Fx as [A B]. split; [apply truths_lifted; [exact HT | exact B]|].
    rewrite (lifted_ok Q' cd e T' HT). exact A.
  - destruct Fx as [A [B C]]. split; [apply truths_lifted; [exact HT | exact B] | split; assumption].
Qed.

Lemma paths_of_ok P h Q T ways : paths_of P h = Some (Q, T, ways) -> all_paths P h = Some (Q, T, ways) /\ modulus Q < W.
Proof.
  unfold paths_of. destruct (Z.ltb_spec (f_modulus P) W) as [L|]; [|discriminate]. intros H. split; [exact H|].
  unfold all_paths in H. destruct (match parses_ascend 2 (h_reads h) with Some _ => _ | None => None end); [|discriminate].
  destruct (sym _ _ _ _ _ _) as [[made l]|]; [|discriminate]. destruct (_ && _); [|discriminate].
  destruct (join_ops _ _ _ _ _); [|discriminate]. destruct (ways_of _ _); [|discriminate]. injection H as <- _ _. exact L.
Qed.

(* Code ends as the program means, whatever calldata is, with any gas from g0 on. *)
Theorem check_flow_sound P h code g0 : check_flow P h code = Some g0 ->
  forall cd, Forall is_byte cd -> Z.of_nat (length cd) < W ->
  forall g, g0 <= g -> Eval code cd (start g) (flow_meaning P cd).
Proof.
  unfold check_flow. intros H cd Hcd Len g G. destruct (paths_of P h) as [[[Q T] ways]|] eqn:Pp; [|discriminate].
  destruct (walk _ _ _ _ _ _ _ _ _ _ _ _ _) as [[[g1 hs] ns]|] eqn:R; [|discriminate]. injection H as ->.
  destruct (all_paths_ok _ _ _ _ _ (proj1 (paths_of_ok _ _ _ _ _ Pp)) cd Hcd Len) as [Eq [Er [p1 [one [parsed [sign [worded [HT [w [Iw [Tw Ew]]]]]]]]]]].
  rewrite <- Eq, <- Er in R.
  eapply (walk_ok Q cd Hcd Len code p1 _ one parsed sign (h_words h) worded T HT w Tw _ (fun _ => false) (fun _ _ _ => false) 0 0); [lia | lia | | | exact Iw | | exact R | lia].
  - unfold way_ends in Ew. destruct (snd w); [exact Ew | exact Ew | exact Ew | destruct Ew | exact Ew].
  - split; cbn [sstack smem Check.smw]; [constructor | apply zeros_ok | reflexivity].
  - constructor.
Qed.

Print Assumptions check_flow_sound.
