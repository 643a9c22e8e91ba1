(* The checker of programs with branches and calls is sound: `check_flow_sound`. *)
From Coq Require Import ZArith List Bool Lia FMapPositive.
From Residue Require Import Evm Words Program Check Sums Sound Flow CheckFlow.
Import ListNotations.
Open Scope Z_scope.

Section Flow.
(* The operations of all paths. *)
Variable P : program.
Variable cd : list Z.
Hypothesis cd_bytes : Forall is_byte cd.
Hypothesis cd_short : Z.of_nat (length cd) < W.
Variable code : list Z.
Let p := modulus P.
Hypothesis p_pos : 1 < p.
Hypothesis p_fits : p < W.
Variable e : env.
Hypothesis one : e 1%positive = 1.
Hypothesis parsed : forall i off, In (i, off) (parses P) -> e i = cdword cd off.
Hypothesis no_sign : forall i, 0 <= e i.
Let reads := parses P.

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
  - destruct (as_const s) as [k|] eqn:C; [|eapply look_both_ok; eassumption]. injection H as <-.
    apply (as_const_ok e one) in C. cbn. rewrite C. reflexivity.
  - cbn [Sound.ceval].
    destruct (decide p F a) as [[]|]; [specialize (IHa _ eq_refl) | specialize (IHa _ eq_refl) | clear IHa];
      (destruct (decide p F b) as [[]|]; [specialize (IHb _ eq_refl) | specialize (IHb _ eq_refl) | clear IHb]);
      try discriminate; injection H as <-; rewrite ?IHa, ?IHb; cbn; rewrite ?andb_false_r; reflexivity.
Qed.

(* ---- paths of a program ---- *)

Record rel (s : path) (f : frame) : Prop := {
  rel_vals : forall i x, M.find i (ren s) = Some x -> vals f i = read e x /\ 0 <= vals f i < p;
  rel_words : forall w x, M.find w (pwords s) = Some x -> is_word (wrds f w) x }.

Definition made_ok (g : made) : Prop := Forall (holds p e) (done g).

Definition fin_ok (x : fin) (o : frame + outcome) : Prop :=
  match x, o with
  | At s, inl f => rel s f /\ truths (facts s)
  | End F None, inr o => o = Failed /\ truths F
  | End F (Some l), inr o =>
      o = Returned (concat (map (fun i => bytes_of 32 (e i)) l)) /\ truths F /\ forall i, In i l -> 0 <= e i < p
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

Lemma sym_more b : forall g s g' a, sym p reads b g s = Some (g', a) -> more g g'.
Proof.
  induction b as [|l k IH|to from k IH|i off k IH|w x k IH|w x k IH|x k IH|x t IHt u IHu k IH|ps args b IHb gives rs k IH|l];
    intros g s g' a H; cbn [sym] in H.
  - injection H as <- <-. apply more_refl.
  - destruct (sym_ops p l g (ren s)) as [[g1 r]|] eqn:E; [|discriminate].
    eapply more_trans; [eapply sym_ops_more; exact E | eapply IH; exact H].
  - destruct (sym_operands p (ren s) from); [|discriminate]. eapply IH; exact H.
  - destruct (find_read reads off); [|discriminate]. destruct (split p split_fuel _ s) as [l|]; [|discriminate].
    eapply each_more; [|exact H]. intros [[] s1] h h' c E; [injection E as <- <-; apply more_refl | eapply IH; exact E].
  - destruct (sym_operand p (ren s) x); [|discriminate]. eapply IH; exact H.
  - destruct (sym_word p reads s x); [|discriminate]. eapply IH; exact H.
  - destruct (split_word p reads s x) as [l|]; [|discriminate].
    eapply each_more; [|exact H]. intros [[] s1] h h' c E; [injection E as <- <-; apply more_refl | eapply IH; exact E].
  - destruct (split_word p reads s x) as [l|]; [|discriminate].
    eapply each_more; [|exact H]. intros [z s1] h h' c E.
    assert (Q : forall h1 a1, (if z then sym p reads u h s1 else sym p reads t h s1) = Some (h1, a1) -> more h h1)
      by (intros h1 a1; destruct z; [apply IHu | apply IHt]).
    destruct (if z then sym p reads u h s1 else sym p reads t h s1) as [[h1 a1]|]; [|discriminate].
    eapply more_trans; [eapply Q; reflexivity|]. eapply each_more; [|exact E].
    intros [s2|F o] h2 h3 c' E'; [eapply IH; exact E' | injection E' as <- <-; apply more_refl].
  - destruct (sym_operands p (ren s) args) as [l|]; [|discriminate].
    destruct (sym p reads b g _) as [[h1 a1]|] eqn:E; [|discriminate].
    eapply more_trans; [eapply IHb; exact E|]. eapply each_more; [|exact H].
    intros [s2|F o] h2 h3 c' E'; [|injection E' as <- <-; apply more_refl].
    destruct (sym_operands p (ren s2) gives); [|discriminate]. eapply IH; exact E'.
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

Lemma sym_word_ok s f x : rel s f -> forall y, sym_word p reads s x = Some y -> is_word (word_value cd (wrds f) x) y.
Proof.
  intros HR. induction x as [n| |off|w|i a IHa b IHb]; intros y H; cbn [sym_word word_value] in *.
  - destruct (Z.leb_spec 0 n); [|discriminate]. destruct (Z.ltb_spec n W); [|discriminate]. injection H as <-.
    split; [lia|]. split; [lia|]. apply cong_sym, den_const; assumption.
  - injection H as <-. split; [lia | reflexivity].
  - destruct (find_read reads off) as [r|] eqn:E; [|discriminate]. injection H as <-.
    split; [apply cdword_range; exact cd_bytes|]. symmetry. apply find_read_ok; exact E.
  - exact (rel_words _ _ HR _ _ H).
  - destruct (sym_word p reads s a) as [u|]; [|discriminate]. destruct (sym_word p reads s b) as [v|]; [|discriminate].
    eapply sbin_ok; eauto.
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

Lemma split_word_ok s f x l : rel s f -> split_word p reads s x = Some l -> truths (facts s) ->
  exists s', In (word_value cd (wrds f) x =? 0, s') l /\ rel s' f /\ truths (facts s').
Proof.
  intros HR H HF. unfold split_word in H. destruct (sym_word p reads s x) as [y|] eqn:E; [|discriminate].
  destruct (iszero p y) as [c|] eqn:Z0; [|discriminate].
  rewrite (iszero_ok P cd e _ _ _ (sym_word_ok _ _ _ HR _ E) Z0).
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

Lemma sym_ok b : forall g s g' a f, sym p reads b g s = Some (g', a) -> made_ok g' -> rel s f -> truths (facts s) ->
  exists x, In x a /\ fin_ok x (mean p cd b f).
Proof.
  induction b as [|l k IH|to from k IH|i off k IH|w x k IH|w x k IH|x k IH|x t IHt u IHu k IH|ps args b IHb gives rs k IH|l];
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
  - destruct (sym_operand p (ren s) x) as [y|] eqn:E; [|discriminate].
    eapply IH; [exact H | exact G | | exact HF]. apply rel_learn; [exact HR|].
    destruct (sym_operand_ok _ _ _ _ HR E) as [Ey Rg].
    match goal with |- is_word _ (SB ?c) => replace (read (vals f) x =? 0) with (ceval c) end;
      [apply truth_word; assumption|].
    cbn [Sound.ceval]. fold p. rewrite <- (Z.mod_small (read (vals f) x) p Rg), Ey. apply cong_zero.
    destruct y as [j|c]; cbn [read]; [exists 0; cbn [den]; ring | apply den_const; assumption].
  - destruct (sym_word p reads s x) as [y|] eqn:E; [|discriminate].
    eapply IH; [exact H | exact G | | exact HF]. apply rel_learn; [exact HR | eapply sym_word_ok; eassumption].
  - destruct (split_word p reads s x) as [l|] eqn:S0; [|discriminate].
    destruct (split_word_ok _ _ _ _ HR S0 HF) as [s' [I [R1 T1]]].
    destruct (each_in _ _ _ I _ _ _ H) as [g1 [g2 [c [Q [Mo Inc]]]]].
    { intros [[] s1] h h' c Q; [injection Q as <- <-; apply more_refl | eapply sym_more; exact Q]. }
    cbn beta iota in Q.
    destruct (word_value cd (wrds f) x =? 0).
    + injection Q as <- <-. eexists; split; [apply Inc; left; reflexivity | split; [reflexivity | exact T1]].
    + destruct (IH _ _ _ _ _ Q (more_ok _ _ Mo G) R1 T1) as [y [Iy Fy]]. exists y. split; [apply Inc; exact Iy | exact Fy].
  - destruct (split_word p reads s x) as [l|] eqn:S0; [|discriminate].
    destruct (split_word_ok _ _ _ _ HR S0 HF) as [s' [I [R1 T1]]].
    assert (rest : forall y h h' c, match y with At s => sym p reads k h s | End _ _ => Some (h, [y]) end = Some (h', c) -> more h h')
      by (intros [s2|F o] h h' c Q; [eapply sym_more; exact Q | injection Q as <- <-; apply more_refl]).
    destruct (each_in _ _ _ I _ _ _ H) as [g1 [g2 [c [Q [Mo Inc]]]]].
    { intros [z s1] h h' c Q.
      assert (K : forall h1 a1, (if z then sym p reads u h s1 else sym p reads t h s1) = Some (h1, a1) -> more h h1)
        by (intros h1 a1; destruct z; apply sym_more).
      destruct (if z then sym p reads u h s1 else sym p reads t h s1) as [[h1 a1]|]; [|discriminate].
      eapply more_trans; [eapply K; reflexivity | eapply each_more; [exact rest | exact Q]]. }
    cbn beta iota in Q.
    set (z := word_value cd (wrds f) x =? 0) in *.
    destruct (if z then sym p reads u g1 s' else sym p reads t g1 s') as [[h1 a1]|] eqn:Ar; [|discriminate].
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
    destruct (sym p reads b g _) as [[h1 a1]|] eqn:Ar; [|discriminate].
    assert (rest : forall y h h' c, match y with
        | At s' => match sym_operands p (ren s') gives with
                   | Some l => sym p reads k h (Path (sym_moved rs l (ren s)) (pwords s) (facts s')) | None => None end
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
    pose proof (sym_operands_ok _ _ _ HR _ E) as F2. clear E.
    split; [|split; [exact HF|]].
    + do 2 f_equal. remember (map V m) as ys. revert m Heqys.
      rewrite <- (map_map (read (vals f)) (bytes_of 32)).
      induction F2 as [|v y vs ys [Hv _] _ IHF]; intros [|i m] Eq; try discriminate; [reflexivity|].
      injection Eq as -> Eq. cbn [map]. rewrite Hv. cbn [read]. f_equal. apply IHF. exact Eq.
    + remember (map V m) as ys. revert m Heqys.
      induction F2 as [|v y vs ys [Hv Rv] _ IHF]; intros [|i m] Eq j J; try discriminate; [destruct J|].
      injection Eq as -> Eq. destruct J as [<-|J]; [cbn [read] in Hv; lia | eapply IHF; eassumption].
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
  intros HF H. destruct x as [|i| | |]; try exact H. cbn [element].
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
Hypothesis ending : match snd taken with
  | None => o = Failed
  | Some l => o = Returned (concat (map (fun i => bytes_of 32 (e i)) l)) /\ forall i, In i l -> 0 <= e i < p
  end.

Lemma where_ok c b l : In taken l -> ceval c = b -> In taken (where_ p c b l).
Proof.
  intros I H. unfold where_. apply filter_In. split; [exact I|].
  destruct (decide p (fst taken) c) as [b'|] eqn:D; [|reflexivity]. apply (decide_ok _ _ true_way) in D.
  apply Bool.eqb_true_iff. congruence.
Qed.

Lemma plus_inv c r g hs names : plus c r = Some (g, hs, names) -> exists h, r = Some (h, hs, names) /\ g = c + h.
Proof. destruct r as [[[h hs1] ns]|]; [|discriminate]. intros H. exists h. injection H as <- <- <-. split; reflexivity. Qed.

Notation walk := (walk p reads code).

Lemma walk_nonneg fuel : forall T ways F rest names s g hs ns, walk fuel T ways F rest names s = Some (g, hs, ns) -> 0 <= g.
Proof.
  induction fuel as [|fuel IH]; intros T0 ways F rest names s g hs ns H; [discriminate|].
  cbn [CheckFlow.walk] in H. destruct (decode rest) as [i n].
  assert (plain :
    match sinstr p T0 reads i (ready p F i s) with
    | Some (cost, s) =>
        let '(f, names) := if arithmetic i then match names with f :: r => (f, r) | [] => (None, []) end
                           else (None, names) in
        match named p T0 f s with
        | Some s =>
            if (0 <=? cost) && within (sstack s) then plus cost (walk fuel T0 ways F (skipn n rest) names s) else None
        | None => None
        end
    | None => None
    end = Some (g, hs, ns) -> 0 <= g).
  { clear H. intros H. destruct (sinstr p T0 reads i (ready p F i s)) as [[cost s1]|]; [|discriminate].
    match type of H with (let '(_, _) := ?x in _) = _ => destruct x as [f names'] end.
    destruct (named p T0 f s1) as [s'|]; [|discriminate]. destruct (Z.leb_spec 0 cost); [|discriminate].
    destruct (within (sstack s')); [|discriminate]. apply plus_inv in H as [h [R ->]]. apply IH in R. lia. }
  destruct i; try (apply plain; exact H); clear plain.
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
  - destruct (sstack s) as [|x [|y r]]; try discriminate. destruct (slot_of x) as [[a key]|]; [|discriminate].
    destruct (exactly y) as [v|]; [|discriminate]. destruct (forallb _ ways); [|discriminate]. cbn [andb] in H.
    destruct (0 <=? _) eqn:C; [|discriminate]. apply Z.leb_le in C. injection H as <- _ _. exact C.
  - destruct (forallb failed ways); [|discriminate]. injection H as <- _ _. lia.
Qed.

Lemma walk_ok fuel : forall pc ways F names s g hs ns k m mw gas, match_ok P cd e k m mw s -> In taken ways -> truths F ->
  walk fuel T ways F (skipn pc code) names s = Some (g, hs, ns) -> g <= gas -> Eval code cd (State k m mw pc gas) o.
Proof.
  induction fuel as [|fuel IH]; intros pc ways F names s g hs ns k m mw gas HM I HF H G; [discriminate|].
  pose proof (walk_nonneg _ _ _ _ _ _ _ _ _ _ H) as N0.
  cbn [CheckFlow.walk] in H. destruct (decode (skipn pc code)) as [i n] eqn:D.
  assert (plain :
    match sinstr p T reads i (ready p F i s) with
    | Some (cost, s) =>
        let '(f, names) := if arithmetic i then match names with f :: r => (f, r) | [] => (None, []) end
                           else (None, names) in
        match named p T f s with
        | Some s =>
            if (0 <=? cost) && within (sstack s) then plus cost (walk fuel T ways F (skipn n (skipn pc code)) names s) else None
        | None => None
        end
    | None => None
    end = Some (g, hs, ns) -> Eval code cd (State k m mw pc gas) o).
  { clear H. intros H. destruct (sinstr p T reads i (ready p F i s)) as [[cost s1]|] eqn:X; [|discriminate].
    match type of H with (let '(_, _) := ?x in _) = _ => destruct x as [f names'] end.
    destruct (named p T f s1) as [s'|] eqn:Nm; [|discriminate].
    destruct (Z.leb_spec 0 cost); [|discriminate]. destruct (within (sstack s')) eqn:Wi; [|discriminate]. cbn [andb] in H.
    apply plus_inv in H as [h [R ->]]. rewrite skipn_skipn' in R. pose proof (walk_nonneg _ _ _ _ _ _ _ _ _ _ R) as N1.
    destruct (sinstr_ok P cd cd_bytes cd_short code p_pos p_fits e one parsed T i _ cost s1 k m mw (pc + n)%nat HT
      (ready_ok F i _ _ _ _ HF HM) X) as [k' [m' [mw' [E HM1]]]].
    pose proof (named_ok _ _ _ _ _ _ _ _ _ _ HT HM1 Nm) as HM'.
    eapply Eval_step; [|apply (IH _ _ _ _ _ _ _ _ k' m' mw' (gas - cost) HM' I HF R); lia].
    unfold step. cbn [Evm.pc Evm.stack Evm.mem Evm.mwords Evm.gas].
    rewrite D, E. destruct (Z.ltb_spec gas cost); [lia|].
    rewrite (stack_length _ _ _ _ _ (ms_stack _ _ _ _ _ _ _ HM')). apply Z.leb_le in Wi.
    destruct (Z.ltb_spec 1024 (Z.of_nat (length (sstack s')))); [lia|]. reflexivity. }
  destruct s as [ss sm mw0 hs0]. cbn [sstack smem Check.smw hints] in *.
  assert (Hst : stack_ok P cd e k ss) by apply HM. assert (Hmem : mem_ok P cd e m sm) by apply HM.
  assert (Hmw : mw = mw0) by apply HM.
  destruct i; try (apply plain; exact H); clear plain.
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
    apply (exactly_ok _ _ _ _ _ _ Hw) in X. subst w. apply (iszero_ok P cd e _ _ _ Hu) in Z0.
    apply Z.leb_le in Wi. pose proof (stack_length _ _ _ _ _ Hk2) as Len.
    assert (HM2 : forall hs, match_ok P cd e k2 m mw0 (S r sm mw0 hs)) by (intros; split; cbn [sstack smem Check.smw]; auto).
    match type of H with match ?t with _ => _ end = _ => destruct t as [[[g1 hs1] ns1]|] eqn:On; [|discriminate] end.
    assert (N1 : 0 <= g1).
    { destruct (where_ p c true ways); [injection On as <- _ _; lia | apply walk_nonneg in On; exact On]. }
    destruct (ceval c) eqn:Ec.
    + pose proof (where_ok _ _ _ I Ec) as I1. destruct (where_ p c true ways) as [|w l]; [destruct I1|].
      assert (g1 + 10 <= gas).
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
  - (* RETURN *)
    destruct ss as [|x [|y r]]; try discriminate. destruct (slot_of x) as [[a key]|] eqn:X; [|discriminate].
    destruct (exactly y) as [v|] eqn:Y; [|discriminate]. destruct (forallb _ ways) eqn:All; [|discriminate]. cbn [andb] in H.
    destruct (0 <=? _) eqn:Cost; [|discriminate]. injection H as <- _ _. rewrite forallb_forall in All.
    specialize (All _ I). unfold returned in All. destruct (snd taken) as [l|]; [|discriminate]. destruct ending as [-> small].
    apply andb_prop in All as [Ev Rt]. apply Z.eqb_eq in Ev.
    inversion Hst as [|w ? k1 ? Hw Hk1]; subst. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst.
    destruct (slot_ok _ _ _ _ _ _ _ Hw X) as [-> [Ha E]]. apply (exactly_ok _ _ _ _ _ _ Hu) in Y. subst u.
    apply Eval_halt. unfold step. cbn [Evm.pc Evm.stack Evm.mem Evm.mwords Evm.gas]. rewrite D. cbn [exec].
    change (cmem (grown mw0 a (32 * Z.of_nat (length l))) - cmem mw0 <= gas) in G.
    destruct (Z.ltb_spec gas (cmem (grown mw0 a (32 * Z.of_nat (length l))) - cmem mw0)); [lia|].
    f_equal. f_equal. replace (Z.to_nat (32 * Z.of_nat (length l))) with (32 * length l)%nat by lia.
    rewrite E. eapply returns_ok; eassumption.
  - (* INVALID *)
    destruct (forallb failed ways) eqn:All; [|discriminate]. rewrite forallb_forall in All. specialize (All _ I).
    unfold failed in All. destruct (snd taken); [discriminate|]. subst o.
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

(* Values are numbers from zero on. *)
Lemma final_no_sign P cd : 0 < modulus P -> Forall is_byte cd -> forall i, 0 <= final P cd i.
Proof.
  intros Hp Hcd. unfold final, eval_ops, first, eval_parses.
  assert (A : forall l n, (forall i, 0 <= n i) -> forall i, 0 <= fold_left (fun e '(i, off) => set e i (cdword cd off)) (l : list (positive * Z)) n i).
  { induction l as [|[j off] l IH]; intros n Hn; [exact Hn|]. cbn [fold_left]. apply IH. intros i. unfold set.
    destruct (Pos.eqb i j); [apply cdword_range; exact Hcd | apply Hn]. }
  assert (B : forall l n, (forall i, 0 <= n i) -> forall i, 0 <= fold_left (eval_op (modulus P)) l n i).
  { induction l as [|q l IH]; intros n Hn; [exact Hn|]. cbn [fold_left]. apply IH. intros i. unfold eval_op, set.
    destruct (Pos.eqb i (out q)); [destruct (what q); cbn; apply Z.mod_pos_bound; exact Hp | apply Hn]. }
  apply B, A. intros i. destruct (Pos.eqb i 1); lia.
Qed.

(* An end that a program has on a path. *)
Definition way_ends (p : Z) (e : env) (w : way) (o : outcome) : Prop :=
  match snd w with
  | None => o = Failed
  | Some l => o = Returned (concat (map (fun i => bytes_of 32 (e i)) l)) /\ forall i, In i l -> 0 <= e i < p
  end.

(* Of all calldata one of the paths is taken, and the program ends there. *)
Lemma paths_of_ok P h Q T ways : paths_of P h = Some (Q, T, ways) ->
  forall cd, Forall is_byte cd -> Z.of_nat (length cd) < W ->
  let e := final Q cd in
  modulus Q = f_modulus P /\ parses Q = h_reads h /\ 1 < modulus Q < W /\
  e 1%positive = 1 /\ (forall i off, In (i, off) (parses Q) -> e i = cdword cd off) /\ (forall i, 0 <= e i) /\ tables_ok Q e T /\
  exists w, In w ways /\ truths Q cd e (fst w) /\ way_ends (modulus Q) e w (flow_meaning P cd).
Proof.
  unfold paths_of. intros H cd Hcd Len.
  destruct (parses_ascend 2 (h_reads h)) as [first|] eqn:Pa; [|discriminate].
  destruct (sym _ _ _ _ _) as [[made l]|] eqn:Sy; [|discriminate].
  set (Q' := Program (f_modulus P) 0 (h_reads h) (rev (done made)) []) in *.
  destruct (Z.ltb_spec 1 (f_modulus P)) as [p1|]; [|discriminate]. destruct (Z.ltb_spec (f_modulus P) W) as [pW|]; [|discriminate].
  destruct (ascends first (ops Q')) eqn:As; [|discriminate]. cbn [andb] in H.
  destruct (join_ops _ _ _ _ _) as [T'|] eqn:Jo; [|discriminate].
  destruct (ways_of T' l) as [ws|] eqn:Wy; [|discriminate]. injection H as <- <- <-. set (e := final Q' cd).
  destruct (ascending_ok Q' cd first Pa As) as [one [parsed [Holds T0]]]. fold e in one, parsed, Holds, T0.
  change (1 < modulus Q') in p1. change (modulus Q' < W) in pW.
  assert (HT : tables_ok Q' e T') by (eapply join_ops_ok; eauto).
  assert (eqs : made_ok Q' e made).
  { unfold made_ok. cbn [ops Q'] in Holds. apply Forall_rev in Holds. rewrite rev_involutive in Holds. exact Holds. }
  assert (sign : forall i, 0 <= e i) by (apply final_no_sign; [lia | exact Hcd]).
  destruct (sym_ok Q' cd Hcd Len p1 pW e one parsed sign (f_body P) _ _ _ _ blank_frame Sy eqs) as [x [I Fx]].
  { split; cbn [ren pwords]; intros i y E; rewrite PositiveMap.gempty in E; discriminate. }
  { constructor. }
  change (modulus Q') with (f_modulus P) in Fx. destruct (ways_of_in _ _ _ I _ Wy) as [w [Ew Iw]].
  split; [reflexivity|]. split; [reflexivity|]. split; [split; assumption|]. split; [exact one|]. split; [exact parsed|].
  split; [exact sign|]. split; [exact HT|]. exists w. split; [exact Iw|]. destruct x as [s|F goal]; [discriminate|]. injection Ew as <-.
  unfold flow_meaning, way_ends. cbn [fst snd].
  destruct (mean (f_modulus P) cd (f_body P) blank_frame) as [f|o]; [destruct goal; destruct Fx|].
  split; [apply truths_lifted; [exact HT | destruct goal; apply Fx]|].
  destruct goal; [destruct Fx as [A [_ B]]; split; assumption | apply Fx].
Qed.

(* Code ends as the program means, whatever calldata is, with any gas from g0 on. *)
Theorem check_flow_sound P h code g0 : check_flow P h code = Some g0 ->
  forall cd, Forall is_byte cd -> Z.of_nat (length cd) < W ->
  forall g, g0 <= g -> Eval code cd (start g) (flow_meaning P cd).
Proof.
  unfold check_flow. intros H cd Hcd Len g G. destruct (paths_of P h) as [[[Q T] ways]|] eqn:Pp; [|discriminate].
  destruct (walk _ _ _ _ _ _ _ _ _ _) as [[[g1 hs] ns]|] eqn:R; [|discriminate]. injection H as ->.
  destruct (paths_of_ok _ _ _ _ _ Pp cd Hcd Len) as [Eq [Er [[p1 pW] [one [parsed [sign [HT [w [Iw [Tw Ew]]]]]]]]]].
  rewrite <- Eq, <- Er in R.
  eapply (walk_ok Q cd Hcd Len code p1 pW _ one parsed sign T HT w Tw); [exact Ew | | exact Iw | | exact R | exact G].
  - split; cbn [sstack smem Check.smw]; [constructor | apply zeros_ok | reflexivity].
  - constructor.
Qed.

Print Assumptions check_flow_sound.
