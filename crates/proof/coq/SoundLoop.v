(* The checker of programs with a loop is sound: `check_loop_sound`. *)
From Coq Require Import ZArith List Bool Lia FMapPositive.
From Residue Require Import Evm Words Program Check Sums Sound Flow CheckFlow SoundFlow CheckLoop.
Import ListNotations.
Open Scope Z_scope.

(* A proof is not to look into all splits. *)
Local Strategy opaque [split_fuel].

(* ---- what is below a value depends on no value from there on ---- *)

Section Below.
Variables Q Q' : program.
Hypothesis same_modulus : modulus Q = modulus Q'.
Variable cd : list Z.
Variables e e' : env.
Variable base : positive.
Hypothesis same_below : forall j, (j < base)%positive -> e j = e' j.

Lemma below_ok i : below base i = true -> e i = e' i.
Proof. intros H. apply same_below, Pos.ltb_lt. exact H. Qed.

Lemma den_below s : sum_below base s = true -> den e s = den e' s.
Proof.
  induction s as [|[i c] s IH]; intros H; [reflexivity|]. cbn in H. apply andb_prop in H as [A B]. cbn [den].
  rewrite (below_ok _ A), (IH B). reflexivity.
Qed.

Lemma bits_below l : forallb (below base) l = true -> all_bits e l = all_bits e' l.
Proof.
  induction l as [|i l IH]; intros H; [reflexivity|]. cbn in H. apply andb_prop in H as [A B].
  change (Z.lor (e i) (all_bits e l) = Z.lor (e' i) (all_bits e' l)). rewrite (below_ok _ A), (IH B). reflexivity.
Qed.

Lemma cond_below_ok c : cond_below base c = true -> ceval Q cd e c = ceval Q' cd e' c.
Proof.
  induction c as [n|i|c IH|i n|s|l|a IHa b IHb]; intros H; cbn in H |- *; rewrite <- ?same_modulus.
  - reflexivity.
  - rewrite (below_ok _ H). reflexivity.
  - rewrite (IH H). reflexivity.
  - rewrite (below_ok _ H). reflexivity.
  - rewrite (den_below _ H). reflexivity.
  - rewrite (bits_below _ H). reflexivity.
  - apply andb_prop in H as [A B]. rewrite (IHa A), (IHb B). reflexivity.
Qed.

Lemma word_below_ok w x : word_below base x = true -> is_word Q cd e w x -> is_word Q' cd e' w x.
Proof.
  intros H [R E]. split; [exact R|]. destruct x as [s lo hi|i| |c|l n|s l]; cbn in H.
  - rewrite <- (den_below _ H), <- same_modulus. exact E.
  - rewrite <- (below_ok _ H). exact E.
  - exact E.
  - rewrite <- (cond_below_ok _ H). exact E.
  - rewrite <- (bits_below _ H). exact E.
  - rewrite <- (den_below _ H), <- same_modulus. exact E.
Qed.

Lemma operand_below_ok x : operand_below base x = true -> read e x = read e' x.
Proof. destruct x as [i|c]; intros H; [exact (below_ok _ H) | reflexivity]. Qed.
End Below.

Lemma wordeqb_ok x y : wordeqb x y = true -> x = y.
Proof.
  destruct x as [s l h|i| |c|l n|s l], y as [t l' h'|j| |d|m k|t m]; cbn; intros H; try discriminate.
  - apply andb_prop in H as [H C]. apply andb_prop in H as [A B]. apply seqb_ok in A. apply Z.eqb_eq in B, C. congruence.
  - apply Pos.eqb_eq in H. congruence.
  - reflexivity.
  - apply condeqb_ok in H. congruence.
  - apply andb_prop in H as [A B]. apply positives_ok in A. apply Z.eqb_eq in B. congruence.
Qed.

Lemma operandeqb_ok x y : operandeqb x y = true -> x = y.
Proof.
  destruct x, y; cbn; intros H; try discriminate; [apply Pos.eqb_eq in H | apply Z.eqb_eq in H]; congruence.
Qed.

Lemma single_ok Q cd e w u x : single x = true -> is_word Q cd e w x -> is_word Q cd e u x -> w = u.
Proof.
  intros H Hw Hu. assert (ex : forall v, exactly x = Some v -> w = u).
  { intros v E. rewrite (exactly_ok _ _ _ _ _ _ Hw E), (exactly_ok _ _ _ _ _ _ Hu E). reflexivity. }
  destruct x as [s lo hi|i| |c|l n|s l]; unfold single in H; try (destruct (exactly _) as [v|]; [apply (ex v); reflexivity | discriminate]).
  - destruct Hw as [_ ->], Hu as [_ ->]. reflexivity.
  - destruct Hw as [_ ->], Hu as [_ ->]. reflexivity.
Qed.

Lemma nth_nonneg l : Forall (fun v => 0 <= v) l -> forall n, 0 <= nth n l 0.
Proof. induction 1 as [|v l Hv _ IH]; intros [|n]; cbn; [lia | lia | exact Hv | apply IH]. Qed.

(* ---- values of a part: calldata's, what a turn is told, and the part's own ---- *)

Section Values.
Variable p : Z.
Variable cd : list Z.
Hypothesis cd_bytes : Forall is_byte cd.
Hypothesis p_pos : 0 < p.
Variable reads : list (positive * Z).
Variable names : list named_word.
Variables first base : positive.
Hypothesis reads_ascend : parses_ascend 2 reads = Some first.
Hypothesis names_ascend : words_ascend first names = Some base.

Definition start_env : env := fun i => if Pos.eqb i 1 then 1 else 0.
Definition low : env := eval_words cd names (eval_parses cd reads start_env).
Definition told_env (told : list Z) : env :=
  fun j => if Pos.ltb j base then low j else nth (Z.to_nat (Z.pos j - Z.pos base)) told 0.
Definition part_env (told : list Z) (more : list named_word) (l : list op) : env :=
  eval_ops p l (eval_words cd more (told_env told)).

Lemma parses_nonneg l : forall n : env, (forall i, 0 <= n i) -> forall i, 0 <= eval_parses cd l n i.
Proof.
  unfold eval_parses. induction l as [|[j off] l IH]; intros n Hn; [exact Hn|]. cbn [fold_left]. apply IH. intros i. unfold set.
  destruct (Pos.eqb i j); [apply cdword_range; exact cd_bytes | apply Hn].
Qed.
Lemma words_nonneg l : forall least top n, words_ascend least l = Some top -> (forall i, 0 <= n i) -> forall i, 0 <= eval_words cd l n i.
Proof.
  induction l as [|[j [[o a] b]] l IH]; intros least top n H Hn; [exact Hn|]. cbn in H.
  destruct (Pos.leb least j); [|discriminate]. destruct (before j a) eqn:Ba; [|discriminate]. destruct (before j b) eqn:Bb; [|discriminate].
  unfold eval_words. cbn [fold_left]. apply (IH _ _ _ H). intros i. unfold set.
  destruct (Pos.eqb i j); [|apply Hn]. assert (0 <= bin o (part_value cd n a) (part_value cd n b)) by (apply bin_nonneg; eapply part_nonneg; eassumption).
  unfold named_value. destruct o; try assumption. apply cdnumber_range; exact cd_bytes.
Qed.
Lemma ops_nonneg l : forall n : env, (forall i, 0 <= n i) -> forall i, 0 <= eval_ops p l n i.
Proof.
  unfold eval_ops. induction l as [|q l IH]; intros n Hn; [exact Hn|]. cbn [fold_left]. apply IH. intros i. unfold eval_op, set.
  destruct (Pos.eqb i (out q)); [destruct (what q); cbn; apply Z.mod_pos_bound; exact p_pos | apply Hn].
Qed.

Lemma low_nonneg i : 0 <= low i.
Proof.
  eapply words_nonneg; [exact names_ascend|]. apply parses_nonneg. intros j. unfold start_env. destruct (Pos.eqb j 1); lia.
Qed.

Section Part.
Variable told : list Z.
Hypothesis told_nonneg : Forall (fun v => 0 <= v) told.
Variable more : list named_word.
Variables from top : positive.
Hypothesis from_base : (base <= from)%positive.
Hypothesis more_ascend : words_ascend from more = Some top.
Variable l : list op.
Hypothesis ops_ascend : ascends top l = true.
Let e := part_env told more l.

Lemma from_top : (from <= top)%positive. Proof. exact (words_ascend_le _ _ _ more_ascend). Qed.

Lemma part_before_words j : (j < from)%positive -> e j = told_env told j.
Proof.
  intros J. pose proof from_top. unfold e, part_env. rewrite (eval_ops_below _ _ _ _ _ ops_ascend) by lia.
  apply (eval_words_below _ _ _ _ _ _ more_ascend J).
Qed.

Lemma part_low j : (j < base)%positive -> e j = low j.
Proof.
  intros J. rewrite part_before_words by lia. unfold told_env. destruct (Pos.ltb_spec j base); [reflexivity | lia].
Qed.

Lemma part_told n : (told_value base n < from)%positive -> e (told_value base n) = nth n told 0.
Proof.
  intros J. rewrite part_before_words by exact J. unfold told_env. pose proof J as J'. unfold told_value in J' |- *.
  destruct (Pos.ltb_spec (Z.to_pos (Z.pos base + Z.of_nat n)) base) as [K|K]; [lia|].
  f_equal. rewrite Z2Pos.id by lia. lia.
Qed.

Lemma part_one : e 1%positive = 1.
Proof.
  pose proof (parses_ascend_le _ _ _ reads_ascend). pose proof (words_ascend_le _ _ _ names_ascend).
  rewrite part_low by lia. unfold low. rewrite (eval_words_below _ _ _ _ _ _ names_ascend) by lia.
  rewrite (eval_parses_below _ _ _ _ _ _ reads_ascend) by lia. reflexivity.
Qed.

Lemma part_parsed i off : In (i, off) reads -> e i = cdword cd off.
Proof.
  intros I. pose proof (words_ascend_le _ _ _ names_ascend). destruct (eval_parses_ok cd _ _ _ start_env _ _ reads_ascend I) as [E J].
  rewrite part_low by lia. unfold low. rewrite (eval_words_below _ _ _ _ _ _ names_ascend) by lia. exact E.
Qed.

Lemma part_nonneg_ok i : 0 <= e i.
Proof.
  revert i. apply ops_nonneg. eapply words_nonneg; [exact more_ascend|]. intros i. unfold told_env.
  destruct (Pos.ltb i base); [apply low_nonneg|]. apply nth_nonneg. exact told_nonneg.
Qed.

Lemma part_worded i o a b : In (i, (o, a, b)) (names ++ more) -> e i = named_value cd e o a b.
Proof.
  pose proof from_top as Ft. intros I. apply in_app_or in I as [I|I].
  - destruct (eval_words_ok cd _ _ _ (eval_parses cd reads start_env) _ _ _ _ names_ascend I) as [J [A [B E]]]. fold low in E.
    rewrite part_low by exact J. rewrite E. unfold named_value.
    rewrite (part_value_ext cd low e _ _ A), (part_value_ext cd low e _ _ B); [reflexivity | |];
      intros j K; symmetry; apply part_low; lia.
  - destruct (eval_words_ok cd _ _ _ (told_env told) _ _ _ _ more_ascend I) as [J [A [B E]]]. set (e0 := eval_words cd more (told_env told)) in E.
    assert (same : forall j, (j < top)%positive -> e j = e0 j) by (intros j K; apply (eval_ops_below _ _ _ _ _ ops_ascend); exact K).
    rewrite same by exact J. rewrite E. unfold named_value.
    rewrite (part_value_ext cd e0 e _ _ A), (part_value_ext cd e0 e _ _ B); [reflexivity | |]; intros j K; symmetry; apply same; lia.
Qed.

Lemma part_holds : Forall (holds p e) l.
Proof. apply eval_ops_holds with (least := top). exact ops_ascend. Qed.
End Part.
End Values.

Lemma atoms_ok Q e l : forall m, (forall i s, PositiveMap.find i m = Some s -> cong (modulus Q) (e i) (den e s)) ->
  forall i s, PositiveMap.find i (atoms l m) = Some s -> cong (modulus Q) (e i) (den e s).
Proof.
  unfold atoms. induction l as [|j l IH]; intros m Hm; [exact Hm|]. cbn [fold_left]. apply IH. intros i s.
  rewrite find_add. destruct (Pos.eqb_spec i j) as [->|_]; [|apply Hm]. intros E; injection E as <-. exists 0. cbn [den]. ring.
Qed.

(* ---- paths of a part ---- *)

Section Paths.
Variable P : program.
Variable cd : list Z.
Hypothesis cd_bytes : Forall is_byte cd.
Hypothesis cd_short : Z.of_nat (length cd) < W.
Let p := modulus P.
Hypothesis p_pos : 1 < p.
Hypothesis p_fits : p < W.
Variable e : env.
Hypothesis one : e 1%positive = 1.
Hypothesis parsed : forall i off, In (i, off) (parses P) -> e i = cdword cd off.
Hypothesis no_sign : forall i, 0 <= e i.
Let reads := parses P.
Variable wnames : list named_word.
Hypothesis worded : forall i o a b, In (i, (o, a, b)) wnames -> e i = named_value cd e o a b.
Variable L : loop.
Variable after : body.

Notation rel := (rel P cd e).
Notation truths := (truths P cd e).
Notation fin_ok := (fin_ok P cd e).
Notation made_ok := (made_ok P e).

(* What comes next: the end of the program, or a turn of this index. *)
Definition goes_on (ends : bool) (i : Z) (f : frame) (x : fin) : Prop :=
  if ends then fin_ok x (mean p cd after (with_results L f))
  else exists q, x = End (facts q) (Again q) /\ rel q (with_index L i f) /\ truths (facts q).

Lemma with_state_ok s f l m : rel s f -> sym_operands p (ren s) l = Some m ->
  rel (Path (sym_moved (l_state L) m (ren s)) (pwords s) (facts s)) (with_state L l f).
Proof.
  intros HR H. split; cbn [ren pwords vals wrds with_state]; [|apply HR].
  eapply moved_ok; [eapply sym_operands_ok; eassumption | reflexivity | apply HR].
Qed.

Lemma leave_ok s f l m g g' a : rel s f -> truths (facts s) -> sym_operands p (ren s) l = Some m ->
  leave p L after reads wnames m g s = Some (g', a) -> made_ok g' ->
  exists x, In x a /\ fin_ok x (mean p cd after (with_results L (with_state L l f))).
Proof.
  intros HR HF Hm H G. unfold leave in H. pose proof (with_state_ok _ _ _ _ HR Hm) as HR1.
  destruct (sym_operands p (sym_moved (l_state L) m (ren s)) (map V (l_state L))) as [zs|] eqn:E; [|discriminate].
  eapply (sym_ok P cd cd_bytes cd_short p_pos e one parsed no_sign wnames worded); [exact H | exact G | | exact HF].
  split; cbn [ren pwords vals wrds with_results]; [|apply HR1].
  pose proof (sym_operands_ok P cd e _ _ _ HR1 _ E) as F2. rewrite map_map in F2. cbn [read] in F2.
  eapply moved_ok; [exact F2 | reflexivity | apply HR1].
Qed.

Lemma leave_more m g s g' a : leave p L after reads wnames m g s = Some (g', a) -> more g g'.
Proof. unfold leave. destruct (sym_operands _ _ _); [|discriminate]. apply sym_more. Qed.

Lemma onward_more c m x g s g' a : onward p L after reads wnames c m x g s = Some (g', a) -> more g g'.
Proof.
  unfold onward. destruct (split _ _ _ _) as [ways|]; [|discriminate]. apply each_more.
  intros [[] s'] h h' b E; [eapply leave_more; exact E | injection E as <- <-; apply more_refl].
Qed.

Lemma onward_ok c l m x i s f g g' a : rel s f -> truths (facts s) -> sym_operands p (ren s) l = Some m -> is_word P cd e i x ->
  onward p L after reads wnames c m x g s = Some (g', a) -> made_ok g' ->
  exists z, In z a /\ goes_on (ceval P cd e c) i (with_state L l f) z.
Proof.
  intros HR HF Hm Hx H G. unfold onward in H. destruct (split p split_fuel c s) as [ways|] eqn:Sp; [|discriminate].
  destruct (split_ok P cd p_pos e one no_sign _ _ _ _ Sp HF) as [s' [I [A [B T1]]]].
  pose proof (rel_same P cd e _ _ _ A B HR) as HR'. rewrite <- A in Hm.
  destruct (each_in _ _ _ I _ _ _ H) as [g1 [g2 [b [Q [Mo Inc]]]]].
  { intros [[] s1] h h' b0 E; [eapply leave_more; exact E | injection E as <- <-; apply more_refl]. }
  cbn beta iota in Q. unfold goes_on. destruct (ceval P cd e c).
  - destruct (leave_ok _ _ _ _ _ _ _ HR' T1 Hm Q (more_ok P e _ _ Mo G)) as [z [Iz Fz]]. exists z. split; [apply Inc; exact Iz | exact Fz].
  - injection Q as <- <-. eexists. split; [apply Inc; left; reflexivity|]. exists (turned_path L m x s'). split; [reflexivity|]. split; [|exact T1].
    pose proof (rel_learn P cd e _ _ (l_index L) _ _ (with_state_ok _ _ _ _ HR' Hm) Hx) as K. cbn [ren pwords facts] in K. exact K.
Qed.

Variable count : sword.

(* Before the loop: the program ends, or goes to its first turn. *)
Lemma before_ok b g g' a n : whole_of p reads wnames b (enter p L after reads count wnames) (Path (M.empty operand) (M.empty sword) []) g = Some (g', a) ->
  made_ok g' -> (single count = true) -> (forall u, is_word P cd e u count -> u = n) ->
  exists x, In x a /\ match mean p cd b blank_frame with
    | inr o => fin_ok x (inr o)
    | inl f => word_value cd (wrds f) (l_count L) = n /\ is_word P cd e n count /\ goes_on (n =? 0) 0 (with_state L (l_first L) f) x
    end.
Proof.
  intros H G Sn Cn. unfold whole_of in H. destruct (sym p reads wnames b g _) as [[g1 l]|] eqn:Sy; [|discriminate].
  assert (En : forall x h h' c, enter p L after reads count wnames x h = Some (h', c) -> more h h').
  { intros [s|F o] h h' c E; cbn in E; [|injection E as <- <-; apply more_refl].
    destruct (sym_word p reads wnames s (l_count L)); [|discriminate]. destruct (sym_operands p (ren s) (l_first L)); [|discriminate].
    destruct (iszero p count); [|discriminate]. destruct (wordeqb _ _); [|discriminate]. eapply onward_more; exact E. }
  pose proof (each_more _ _ En _ _ _ H) as Mo.
  destruct (sym_ok P cd cd_bytes cd_short p_pos e one parsed no_sign wnames worded b _ _ _ _ blank_frame Sy (more_ok P e _ _ Mo G)) as [x [I Fx]].
  { split; cbn [ren pwords]; intros i y E; rewrite PositiveMap.gempty in E; discriminate. }
  { constructor. }
  destruct (each_in _ _ _ I _ _ _ H En) as [h1 [h2 [c [Q [Mo2 Inc]]]]].
  change (modulus P) with p in Fx. destruct x as [s|F goal]; cbn [enter] in Q.
  - destruct (mean p cd b blank_frame) as [f|o]; [|destruct Fx]. destruct Fx as [HR HF].
    destruct (sym_word p reads wnames s (l_count L)) as [y|] eqn:Ey; [|discriminate].
    destruct (sym_operands p (ren s) (l_first L)) as [ys|] eqn:Eo; [|discriminate].
    destruct (iszero p count) as [z|] eqn:Ez; [|discriminate]. destruct (wordeqb y count) eqn:Eq; [|discriminate]. apply wordeqb_ok in Eq. subst y.
    pose proof (sym_word_ok P cd cd_bytes cd_short p_pos e one parsed wnames worded _ _ _ HR _ Ey) as Hw.
    pose proof (Cn _ Hw) as E. rewrite E in Hw.
    assert (Z0 : is_word P cd e 0 (SW [] 0 0)).
    { split; [pose proof W_pos; lia|]. split; [lia | apply cong_refl]. }
    destruct (onward_ok _ _ _ _ _ _ _ _ _ _ HR HF Eo Z0 Q (more_ok P e _ _ Mo2 G)) as [v [Iv Gv]].
    exists v. split; [apply Inc; exact Iv|]. split; [exact E|]. split; [exact Hw|].
    rewrite (iszero_ok P cd p_pos e _ _ _ Hw Ez). exact Gv.
  - injection Q as <- <-. exists (End F goal). split; [apply Inc; left; reflexivity|].
    destruct (mean p cd b blank_frame) as [f|o]; [destruct goal; destruct Fx | exact Fx].
Qed.

(* A turn: the program ends, or goes to the next one. *)
Lemma turn_ok base s f i n g g' a : whole_of p reads wnames (l_turn L) (repeated p L after reads count base wnames) s g = Some (g', a) ->
  made_ok g' -> rel s f -> truths (facts s) -> is_word P cd e n count -> 0 <= i < n -> is_word P cd e i (SRaw (counter L base)) ->
  exists x, In x a /\ match mean p cd (l_turn L) f with
    | inr o => fin_ok x (inr o)
    | inl f => goes_on (i + 1 =? n) (i + 1) (with_state L (l_gives L) f) x
    end.
Proof.
  intros H G HR HF Hn Hi Wi. unfold whole_of in H. destruct (sym p reads wnames (l_turn L) g s) as [[g1 l]|] eqn:Sy; [|discriminate].
  assert (En : forall x h h' c, repeated p L after reads count base wnames x h = Some (h', c) -> more h h').
  { intros [s0|F o] h h' c E; cbn [repeated] in E; [|injection E as <- <-; apply more_refl].
    destruct (sym_operands p (ren s0) (l_gives L)); [|discriminate]. destruct (next_index _ _ _ _); [|discriminate].
    destruct (none_left _ _ _ _ _); [|discriminate]. eapply onward_more; exact E. }
  pose proof (each_more _ _ En _ _ _ H) as Mo.
  destruct (sym_ok P cd cd_bytes cd_short p_pos e one parsed no_sign wnames worded (l_turn L) _ _ _ _ f Sy (more_ok P e _ _ Mo G) HR HF) as [x [I Fx]].
  destruct (each_in _ _ _ I _ _ _ H En) as [h1 [h2 [c [Q [Mo2 Inc]]]]].
  change (modulus P) with p in Fx. destruct x as [s1|F goal]; cbn [repeated] in Q.
  - destruct (mean p cd (l_turn L) f) as [f1|o]; [|destruct Fx]. destruct Fx as [HR1 HF1].
    destruct (sym_operands p (ren s1) (l_gives L)) as [ys|] eqn:Eo; [|discriminate].
    destruct (next_index p L base wnames) as [y|] eqn:Ny; [|discriminate].
    destruct (none_left p L count base wnames) as [z|] eqn:Nz; [|discriminate].
    assert (one1 : is_word P cd e 1 (one_word p)).
    { split; [pose proof W_eq; lia|]. split; [lia|]. apply cong_sym, den_const; assumption. }
    assert (nW : n < W) by (destruct Hn; lia).
    unfold next_index in Ny. pose proof (sym_bin_ok P cd p_pos e wnames worded _ _ _ _ _ _ one1 Wi Ny) as Wy.
    cbn [bin] in Wy. rewrite (Z.add_comm 1), Z.mod_small in Wy by lia.
    unfold none_left, next_index in Nz. rewrite Ny in Nz. destruct (sym_bin p wnames LT y count) as [u|] eqn:Nu; [|discriminate].
    pose proof (sym_bin_ok P cd p_pos e wnames worded _ _ _ _ _ _ Wy Hn Nu) as Wu.
    pose proof (iszero_ok P cd p_pos e _ _ _ Wu Nz) as Zu. cbn [bin] in Zu.
    assert (C : ceval P cd e z = (i + 1 =? n)).
    { rewrite <- Zu. destruct (Z.ltb_spec (i + 1) n), (Z.eqb_spec (i + 1) n); cbn; reflexivity || lia. }
    destruct (onward_ok _ _ _ _ _ _ _ _ _ _ HR1 HF1 Eo Wy Q (more_ok P e _ _ Mo2 G)) as [v [Iv Gv]].
    exists v. split; [apply Inc; exact Iv|]. rewrite <- C. exact Gv.
  - injection Q as <- <-. exists (End F goal). split; [apply Inc; left; reflexivity|].
    destruct (mean p cd (l_turn L) f) as [f1|o]; [destruct goal; destruct Fx | exact Fx].
Qed.
End Paths.

(* ---- code that comes to a label ---- *)

Lemma find_fold {A} (l : list (positive * A)) i x :
  M.find i (fold_right (fun t m => M.add (fst t) (snd t) m) (M.empty A) l) = Some x -> In (i, x) l.
Proof.
  induction l as [|[j y] l IH]; cbn [fold_right fst snd]; [rewrite PositiveMap.gempty; discriminate|].
  rewrite find_add. destruct (Pos.eqb_spec i j) as [->|N]; [intros E; injection E as ->; left; reflexivity | intros E; right; apply IH; exact E].
Qed.

Lemma moved_self to n : forall n0 : env, (forall i, n0 i = n i) -> forall i, moved to (map n to) n0 i = n i.
Proof.
  induction to as [|t to IH]; intros n0 H i; cbn [moved map]; [apply H|]. apply IH. intros j. unfold set.
  destruct (Pos.eqb_spec j t) as [->|]; [reflexivity | apply H].
Qed.

Section Arrival.
Variable P : program.
Variable cd : list Z.
Let p := modulus P.
Hypothesis p_pos : 1 < p.
Hypothesis p_fits : p < W.
Variable L : loop.
Variable base : positive.
Variable b : label.
Hypothesis ok : label_ok L base b = true.

Notation cell m key := (mload m (32 * (Z.pos key - 1))).
(* What a turn is told. *)
Definition told_of (f : frame) (k : list Z) (m : memory) (slots : list Z) : list Z :=
  map (vals f) (l_state L) ++ wrds f (l_index L) :: (k ++ map (fun t => cell m (fst t)) (b_memory b)) ++ slots.

(* Code and program where a turn begins, whatever the values of the turn are. *)
Record stands (e : env) (f : frame) (k : list Z) (m : memory) (mw : Z) : Prop := {
  st_match : forall hs, match_ok P cd e k m mw (S (words_of_label p L base b) (memory_of_label p L base b) (b_mwords b) hs);
  st_rel : rel P cd e (path_of_label L base b) f;
  st_truths : truths P cd e (b_facts b);
  st_index : is_word P cd e (wrds f (l_index L)) (SRaw (counter L base)) }.

Variable Q : program.
Hypothesis same_modulus : modulus Q = p.
Variables e e' : env.
Hypothesis one : e 1%positive = 1.
Hypothesis no_sign : forall i, 0 <= e i.
Hypothesis same_below : forall j, (j < base)%positive -> e j = e' j.
Variable f : frame.
Variable q : path.
Hypothesis at_q : rel Q cd e q f.
Variable k : list Z.
Variable m : memory.
Variable mw : Z.
Variable slots : list Z.
Variable s : sstate.
Hypothesis matches : match_ok Q cd e k m mw s.
Variable F : list fact.
Hypothesis facts_hold : truths Q cd e F.
Variable T : tables.
Hypothesis HT : tables_ok Q e T.
Hypothesis arrives : arrives_at p L T b q s F = true.
Hypothesis told : forall n, (n < length (told_of f k m slots))%nat -> e' (told_value base n) = nth n (told_of f k m slots) 0.

Lemma told_carried j v : nth_error (l_state L) j = Some v -> e' (told_value base j) = vals f v.
Proof.
  intros H. assert (J : (j < length (l_state L))%nat) by (apply nth_error_Some; congruence).
  rewrite told by (unfold told_of; rewrite app_length, map_length; lia). unfold told_of.
  rewrite app_nth1 by (rewrite map_length; exact J). rewrite (nth_indep _ 0 (vals f v)) by (rewrite map_length; exact J).
  rewrite map_nth. f_equal. apply nth_error_nth. exact H.
Qed.

Lemma told_counter : e' (counter L base) = wrds f (l_index L).
Proof.
  unfold counter, carried. rewrite told by (unfold told_of; rewrite app_length, map_length; cbn [length]; lia).
  unfold told_of. rewrite app_nth2 by (rewrite map_length; lia). rewrite map_length, Nat.sub_diag. reflexivity.
Qed.

Lemma told_any n : (n < length k + length (b_memory b))%nat ->
  e' (any L base n) = nth n (k ++ map (fun t => cell m (fst t)) (b_memory b)) 0.
Proof.
  intros H. unfold any, carried.
  rewrite told by (unfold told_of; rewrite app_length, map_length; cbn [length]; rewrite !app_length, map_length; lia).
  unfold told_of. rewrite app_nth2 by (rewrite map_length; lia). rewrite map_length.
  replace (Datatypes.S (length (l_state L)) + n - length (l_state L))%nat with (Datatypes.S n) by lia. cbn [nth].
  apply app_nth1. rewrite app_length, map_length. exact H.
Qed.

Lemma fits_ok w x t n : is_word Q cd e w x -> fits p L T q x t = true -> place_below L base t = true -> (t = Any -> e' (any L base n) = w) ->
  is_word P cd e' w (word_at p L base n t).
Proof.
  intros Hw H B A. destruct t as [y|j| |]; cbn [fits place_below word_at] in *.
  - apply wordeqb_ok in H. subst y. exact (word_below_ok Q P same_modulus cd e e' base same_below _ _ B Hw).
  - destruct (nth_error (l_state L) j) as [v|] eqn:Nv; [|discriminate]. destruct (M.find v (ren q)) as [y|] eqn:Fv; [|discriminate].
    destruct (rel_vals _ _ _ _ _ at_q _ _ Fv) as [Ev Rv]. rewrite same_modulus in Rv.
    assert (w = vals f v) as ->.
    { rewrite Ev. destruct x as [u lo hi|r| |c|l c|u l]; try discriminate; cbn [is_element] in H.
      - destruct (Z.leb_spec 0 lo); [|discriminate]. destruct (Z.ltb_spec hi p); [|discriminate]. cbn [andb] in H.
        destruct (of_operand p T y) as [t|] eqn:O; [|discriminate]. apply seqb_ok in H. subst t.
        destruct Hw as [_ [Bw Cw]]. assert (q_pos : 1 < modulus Q) by (rewrite same_modulus; exact p_pos).
        rewrite <- same_modulus in O. apply (of_operand_ok Q q_pos e one _ _ _ HT) in O.
        apply (cong_eq (modulus Q)); [rewrite same_modulus; lia | rewrite same_modulus, <- Ev; exact Rv|].
        eapply cong_trans; [exact Cw | apply cong_sym; exact O].
      - destruct y as [i|c]; [|discriminate]. apply Pos.eqb_eq in H. subst i. exact (proj2 Hw). }
    split; [fold p in p_fits; lia|]. rewrite <- (told_carried _ _ Nv) in Rv |- *. split; [fold p; lia|]. exists 0. cbn [den]. ring.
  - destruct (M.find (l_index L) (pwords q)) as [y|] eqn:Fy; [|discriminate]. apply andb_prop in H as [H Sx]. apply wordeqb_ok in H. subst y.
    pose proof (rel_words _ _ _ _ _ at_q _ _ Fy) as Hi. rewrite (single_ok _ _ _ _ _ _ Sx Hw Hi) in Hw |- *.
    split; [apply Hw|]. symmetry. apply told_counter.
  - split; [apply Hw|]. symmetry. apply A. reflexivity.
Qed.

Lemma all_fit_ok l : forall t k' n, stack_ok Q cd e k' l -> all_fit p L T q l t = true -> forallb (place_below L base) t = true ->
  (forall i, (i < length k')%nat -> e' (any L base (n + i)) = nth i k' 0) -> stack_ok P cd e' k' (words_at p L base n t).
Proof.
  induction l as [|x l IH]; intros [|t ts] k' n Hk H B A; cbn in H; try discriminate; inversion Hk as [|w ? k1 ? Hx Hk1]; subst; [constructor|].
  apply andb_prop in H as [Fx Fl]. cbn in B. apply andb_prop in B as [B1 B2]. constructor.
  - apply (fits_ok _ _ _ _ Hx Fx B1). intros _. rewrite <- (Nat.add_0_r n). apply (A O). cbn; lia.
  - apply (IH ts k1 (Datatypes.S n) Hk1 Fl B2). intros i I. rewrite Nat.add_succ_comm. apply (A (Datatypes.S i)). cbn; lia.
Qed.

Lemma all_fit_length l : forall t, all_fit p L T q l t = true -> length l = length t.
Proof.
  induction l as [|x l IH]; intros [|t ts] H; cbn in H; try discriminate; [reflexivity|].
  apply andb_prop in H as [_ H]. cbn. f_equal. apply IH. exact H.
Qed.

Lemma memory_at_ok (c : positive -> Z) l : (forall key, is_word Q cd e (c key) (match M.find key (smem s) with Some x => x | None => SW [] 0 0 end)) -> forall n,
  forallb (fun t => fits p L T q (match M.find (fst t) (smem s) with Some x => x | None => SW [] 0 0 end) (snd t)) l = true ->
  forallb (fun t => place_below L base (snd t)) l = true ->
  (forall i, (i < length l)%nat -> e' (any L base (n + i)) = nth i (map (fun t => c (fst t)) l) 0) ->
  forall key x, M.find key (memory_at p L base n l) = Some x -> is_word P cd e' (c key) x.
Proof.
  intros Hc. induction l as [|[j t] l IH]; intros n H B A key x; cbn [memory_at]; [rewrite PositiveMap.gempty; discriminate|].
  cbn [forallb fst snd] in H, B. apply andb_prop in H as [H1 H2]. apply andb_prop in B as [B1 B2].
  rewrite find_add. destruct (Pos.eqb_spec key j) as [->|N].
  - intros E. injection E as <-. apply (fits_ok _ _ _ _ (Hc j) H1 B1). intros _. rewrite <- (Nat.add_0_r n). apply (A O). cbn; lia.
  - apply (IH (Datatypes.S n) H2 B2). intros i I. rewrite Nat.add_succ_comm. apply (A (Datatypes.S i)). cbn; lia.
Qed.

Lemma memory_at_none l key : forall n, M.find key (memory_at p L base n l) = None -> existsb (fun u => Pos.eqb (fst u) key) l = false.
Proof.
  induction l as [|[j t] l IH]; intros n H; [reflexivity|]. cbn [memory_at] in H. rewrite find_add in H.
  destruct (Pos.eqb_spec key j) as [|N]; [discriminate|]. cbn [existsb fst]. rewrite (IH _ H), orb_false_r. apply Pos.eqb_neq. congruence.
Qed.

Lemma arrived : stands e' f k m mw /\ length k = length (b_stack b).
Proof.
  pose proof arrives as A. pose proof ok as B. unfold arrives_at in A. unfold label_ok in B.
  apply andb_prop in A as [A Ai]. apply andb_prop in A as [A As]. apply andb_prop in A as [A Af]. apply andb_prop in A as [A Aw].
  apply andb_prop in A as [A Av]. apply andb_prop in A as [A Ae]. apply andb_prop in A as [A Am]. apply andb_prop in A as [Amw Ak].
  apply andb_prop in B as [B _]. apply andb_prop in B as [B _]. apply andb_prop in B as [B Bf]. apply andb_prop in B as [B Bw].
  apply andb_prop in B as [B Bv]. apply andb_prop in B as [Bk Bm].
  pose proof (ms_stack _ _ _ _ _ _ _ matches) as Hk. pose proof (ms_mem _ _ _ _ _ _ _ matches) as Hm.
  assert (Lk : length k = length (b_stack b)) by (rewrite (stack_length _ _ _ _ _ Hk); apply all_fit_length; exact Ak).
  split; [|exact Lk]. split.
  - intros hs. split; cbn [sstack smem Check.smw].
    + apply (all_fit_ok _ _ _ _ Hk Ak Bk). intros i I. cbn [plus]. rewrite told_any by lia. apply app_nth1. exact I.
    + split.
      * apply Hm.
      * apply (memory_at_ok (fun key => cell m key) _ (fun key => mem_word Q cd e _ _ key Hm) _ Am Bm). intros i I. change M.key with positive in I.
        rewrite told_any by lia. rewrite app_nth2 by lia. f_equal. lia.
      * intros key N. apply (mem_zeros _ _ _ _ _ Hm). destruct (M.find key (smem s)) as [x|] eqn:Fx; [|reflexivity].
        apply PositiveMap.elements_correct in Fx. rewrite forallb_forall in Ae. specialize (Ae _ Fx). cbn [fst] in Ae.
        rewrite (memory_at_none _ _ _ N) in Ae. discriminate.
    + apply Z.eqb_eq in Amw. rewrite <- Amw. apply matches.
  - split; cbn [ren pwords path_of_label].
    + intros i x E.
      assert (G : moved (l_state L) (map (vals f) (l_state L)) (vals f) i = read e' x /\ 0 <= moved (l_state L) (map (vals f) (l_state L)) (vals f) i < modulus P).
      { revert i x E. eapply (moved_ok P e'); [|reflexivity|].
        - assert (R : forall v, In v (l_state L) -> 0 <= vals f v < p).
          { intros v I. rewrite forallb_forall in As. specialize (As _ I). destruct (M.find v (ren q)) as [y|] eqn:Fv; [|discriminate].
            rewrite <- same_modulus. apply (rel_vals _ _ _ _ _ at_q _ _ Fv). }
          assert (G : forall l n, (forall j v, nth_error l j = Some v -> e' (told_value base (n + j)) = vals f v /\ 0 <= vals f v < p) ->
            Forall2 (fun v y => v = read e' y /\ 0 <= v < modulus P) (map (vals f) l) (map (fun j => V (told_value base j)) (seq n (length l)))).
          { induction l as [|v l IH]; intros n H; cbn [map length seq]; constructor.
            - destruct (H O v eq_refl) as [E R1]. rewrite Nat.add_0_r in E. cbn [read]. rewrite E. split; [reflexivity | exact R1].
            - apply IH. intros j u E. rewrite Nat.add_succ_comm. apply H. exact E. }
          apply G. intros j v E. cbn [plus]. split; [apply told_carried; exact E | apply R; eapply nth_error_In; exact E].
        - intros i x E. apply find_fold in E. rewrite forallb_forall in Av, Bv. specialize (Av _ E). specialize (Bv _ E). cbn [fst snd] in Av, Bv.
          destruct (M.find i (ren q)) as [y|] eqn:Fi; [|discriminate]. apply operandeqb_ok in Av. subst y.
          rewrite <- (operand_below_ok e e' base same_below _ Bv). fold p. rewrite <- same_modulus. apply (rel_vals _ _ _ _ _ at_q _ _ Fi). }
      rewrite (moved_self (l_state L) (vals f) (vals f)) in G by reflexivity. exact G.
    + intros w x. rewrite find_add. destruct (Pos.eqb_spec w (l_index L)) as [->|N].
      * intros E. injection E as <-. destruct (M.find (l_index L) (pwords q)) as [y|] eqn:Fy; [|discriminate].
        split; [apply (rel_words _ _ _ _ _ at_q _ _ Fy) | symmetry; apply told_counter].
      * intros E. apply find_fold in E. rewrite forallb_forall in Aw, Bw. specialize (Aw _ E). specialize (Bw _ E). cbn [fst snd] in Aw, Bw.
        destruct (M.find w (pwords q)) as [y|] eqn:Fw; [|discriminate]. apply wordeqb_ok in Aw. subst y.
        apply (word_below_ok Q P same_modulus cd e e' base same_below _ _ Bw). apply (rel_words _ _ _ _ _ at_q _ _ Fw).
  - unfold SoundFlow.truths. apply Forall_forall. intros [c v] I. cbn [fst snd]. rewrite forallb_forall in Af, Bf. specialize (Af _ I). specialize (Bf _ I).
    cbn [fst snd] in Af, Bf. destruct (decide p F c) as [u|] eqn:D; [|discriminate]. apply Bool.eqb_prop in Af. subst u.
    rewrite <- (cond_below_ok Q P same_modulus cd e e' base same_below _ Bf).
    rewrite <- same_modulus in D. apply (decide_ok Q cd) with (F := F); try assumption. rewrite same_modulus. exact p_pos.
  - destruct (M.find (l_index L) (pwords q)) as [y|] eqn:Fy; [|discriminate].
    split; [apply (rel_words _ _ _ _ _ at_q _ _ Fy) | symmetry; apply told_counter].
Qed.
End Arrival.

(* ---- a part that is walked ---- *)

(* The end that a way asks code for. *)
Definition way_ending (P : program) (cd : list Z) (e : env) (w : way) (o : outcome) (next : path -> Prop) : Prop :=
  match snd w with
  | Fails => o = Failed
  | Returns l => o = Returned (concat (map (fun i => bytes_of 32 (e i)) l)) /\ forall i, In i l -> 0 <= e i < modulus P
  | Tells c => o = Returned (bytes_of 32 (b2z (ceval P cd e c)))
  | ReturnsBytes n l => o = Returned (concat (map (fun i => bytes_of (Z.to_nat n) (e i)) l)) /\ forall i, In i l -> 0 <= e i < modulus P
  | Again q => next q
  end.

Lemma way_of_ok P cd e T x w (r : frame + outcome) : tables_ok P e T -> way_of T x = Some w -> fin_ok P cd e x r ->
  forall next, truths P cd e (fst w) /\ exists o, r = inr o /\ way_ending P cd e w o next.
Proof.
  intros HT H Fx next. destruct x as [s|F goal]; [discriminate|]. injection H as <-. unfold way_ending. cbn [fst snd].
  destruct r as [f|o]; [destruct goal; destruct Fx|]. destruct goal as [|l|c|q|n l]; cbn [fin_ok] in Fx; [| | |destruct Fx|].
  - destruct Fx as [A B]. split; [apply truths_lifted; assumption | exists o; split; [reflexivity | exact A]].
  - destruct Fx as [A [B C]]. split; [apply truths_lifted; assumption | exists o; split; [reflexivity | split; assumption]].
  - destruct Fx as [A B]. split; [apply truths_lifted; assumption|]. exists o. split; [reflexivity|]. rewrite (lifted_ok _ _ _ _ HT). exact A.
  - destruct Fx as [A [B C]]. split; [apply truths_lifted; assumption | exists o; split; [reflexivity | split; assumption]].
Qed.

(* Operations and tables of a part. *)
Lemma part_of_loop_ok p reads names told top h run Q T ways : part_of_loop p reads names told top h run = Some (Q, T, ways) ->
  exists g l, run (Made top []) = Some (g, l) /\ Q = Program p 0 reads (rev (done g)) [] /\ ascends top (rev (done g)) = true /\ ways_of T l = Some ways /\
  forall e, 1 < p -> e 1%positive = 1 -> Forall (holds p e) (rev (done g)) -> tables_ok Q e T /\ made_ok Q e g.
Proof.
  unfold part_of_loop. intros H. destruct (run (Made top [])) as [[g l]|]; [|discriminate]. exists g, l.
  set (Q' := Program p 0 reads (rev (done g)) []) in *. destruct (ascends top (ops Q')) eqn:As; [|discriminate].
  destruct (join_ops _ _ _ _ _) as [T'|] eqn:Jo; [|discriminate]. destruct (ways_of T' l) as [ws|] eqn:Wy; [|discriminate]. injection H as <- <- <-.
  split; [reflexivity|]. split; [reflexivity|]. split; [exact As|]. split; [exact Wy|]. intros e p_pos one Hl. split.
  - eapply (join_ops_ok Q'); [exact [] | exact p_pos | exact one | | exact Hl | exact Jo].
    split; cbn [sums products defs start_tables].
    + apply atoms_ok.
      assert (G0 : forall (l : list (positive * Z)) m, (forall i s, PositiveMap.find i m = Some s -> cong (modulus Q') (e i) (den e s)) ->
        forall i s, PositiveMap.find i (fold_left (fun m '(i, _) => PositiveMap.add i [(i, 1)] m) l m) = Some s -> cong (modulus Q') (e i) (den e s)).
      { induction l0 as [|[j x] l0 IH]; intros m Hm; [exact Hm|]. cbn. apply IH. intros i s.
        rewrite find_add. destruct (Pos.eqb_spec i j) as [->|_]; [|apply Hm]. intros E; injection E as <-. exists 0. cbn [den]. ring. }
      apply G0. intros i s E. rewrite PositiveMap.gempty in E. discriminate.
    + intros i a b E. rewrite PositiveMap.gempty in E. discriminate.
    + intros i a E. rewrite PositiveMap.gempty in E. discriminate.
  - unfold made_ok. apply Forall_rev in Hl. rewrite rev_involutive in Hl. exact Hl.
Qed.

Section Whole.
Variable P : looped.
Variable h : loop_hints.
Variable code : list Z.
Let p := o_modulus P.
Let L := o_loop P.
Let reads := o_reads h.
Let count := o_count h.
Let names := s_words (o_first h).
Let per := o_turn_gas h.
Variable cd : list Z.
Hypothesis cd_bytes : Forall is_byte cd.
Hypothesis cd_short : Z.of_nat (length cd) < W.
Hypothesis p_pos : 1 < p.
Hypothesis p_fits : p < W.
Hypothesis per_pos : 0 <= per.
Variables first base : positive.
Hypothesis reads_ascend : parses_ascend 2 reads = Some first.
Hypothesis names_ascend : words_ascend first names = Some base.
Hypothesis count_below : word_below base count = true.
Hypothesis count_single : single count = true.

Let low := low cd reads names.

Definition finish (r : frame + outcome) : frame + outcome :=
  match r with inl f => mean p cd (o_after P) (with_results L f) | inr o => inr o end.

(* The number of turns is one for all values of a part. *)
Variable N : Z.
Hypothesis counted : forall Q e, modulus Q = p -> (forall j, (j < base)%positive -> e j = low j) -> is_word Q cd e N count.

(* Code and program at a label, for any values of its turn. *)
Definition standing (b : label) (f : frame) (k : list Z) (m : memory) (mw : Z) : Prop :=
  Forall (fun v => 0 <= v) (told_of L b f k m []) /\ length k = length (b_stack b) /\
  forall Q e, modulus Q = p -> (forall j, (j < base)%positive -> e j = low j) ->
    (forall n, (n < length (told_of L b f k m []))%nat -> e (told_value base n) = nth n (told_of L b f k m []) 0) ->
    stands Q cd L base b e f k m mw.

Lemma standing_ok b Q e T f q k m mw s F : label_ok L base b = true -> modulus Q = p -> e 1%positive = 1 -> (forall i, 0 <= e i) ->
  (forall j, (j < base)%positive -> e j = low j) -> rel Q cd e q f -> match_ok Q cd e k m mw s -> truths Q cd e F -> tables_ok Q e T ->
  arrives_at p L T b q s F = true -> standing b f k m mw.
Proof.
  intros Ok Mq one sign Lo R M0 HF HT A.
  assert (G : forall Q' e', modulus Q' = p -> (forall j, (j < base)%positive -> e' j = low j) ->
    (forall n, (n < length (told_of L b f k m []))%nat -> e' (told_value base n) = nth n (told_of L b f k m []) 0) ->
    stands Q' cd L base b e' f k m mw /\ length k = length (b_stack b)).
  { intros Q' e' Mq' Lo' To. assert (M2 : modulus Q = modulus Q') by congruence.
    refine (arrived Q' cd _ _ L base b Ok Q M2 e e' one sign _ f q R k m mw [] s M0 F HF T HT _ To); try (rewrite Mq'; assumption).
    intros j J. rewrite Lo, Lo' by exact J. reflexivity. }
  split; [|split].
  - (* Each of these is a value of the program, or a word. *)
    unfold told_of. apply Forall_app. split.
    + apply Forall_map, Forall_forall. intros v I. unfold arrives_at in A. apply andb_prop in A as [A _]. apply andb_prop in A as [_ A].
      rewrite forallb_forall in A. specialize (A _ I). destruct (M.find v (ren q)) as [y|] eqn:Fv; [|discriminate].
      apply (rel_vals _ _ _ _ _ R _ _ Fv).
    + constructor.
      * unfold arrives_at in A. apply andb_prop in A as [_ A]. destruct (M.find (l_index L) (pwords q)) as [y|] eqn:Fy; [|discriminate].
        apply (rel_words _ _ _ _ _ R _ _ Fy).
      * rewrite app_nil_r. apply Forall_app. split.
        -- pose proof (ms_stack _ _ _ _ _ _ _ M0) as Hk. clear - Hk. induction Hk as [|w x k l Hw _ IH]; constructor; [apply Hw | exact IH].
        -- apply Forall_map, Forall_forall. intros t _. apply mload_range. apply (ms_mem _ _ _ _ _ _ _ M0).
  - apply (G Q (told_env cd reads names base (told_of L b f k m [])) Mq).
    + intros j J. unfold told_env. destruct (Pos.ltb_spec j base); [reflexivity | lia].
    + intros n J. unfold told_env, told_value. destruct (Pos.ltb_spec (Z.to_pos (Z.pos base + Z.of_nat n)) base); [lia|].
      f_equal. rewrite Z2Pos.id by lia. lia.
  - intros Q' e' Mq' Lo' To. apply G; assumption.
Qed.

(* A part that is walked ends as the program does, or comes to a label. *)
Lemma walked_ok b hb more Q T ways F pc ss sm mw g e k m gas x w r extra :
  walked P h code (names ++ more) b (Q, T, ways) hb F (skipn pc code) ss sm mw = Some g ->
  modulus Q = p -> parses Q = reads -> e 1%positive = 1 -> (forall i off, In (i, off) reads -> e i = cdword cd off) -> (forall i, 0 <= e i) ->
  (forall i o a b, In (i, (o, a, b)) (names ++ more) -> e i = named_value cd e o a b) -> tables_ok Q e T ->
  match_ok Q cd e k m mw (S ss sm mw (w_values (s_witness hb))) -> truths Q cd e F -> In w ways -> way_of T x = Some w ->
  truths Q cd e (fst w) -> 0 <= b_gas b -> 0 <= extra ->
  way_ending Q cd e w r (fun q => forall k m mw gas s, match_ok Q cd e k m mw s -> arrives_at p L T b q s (fst w) = true ->
    b_gas b + extra <= gas -> Eval code cd (State k m mw (Z.to_nat (b_pc b)) gas) r) ->
  g + extra <= gas -> Eval code cd (State k m mw pc gas) r.
Proof.
  intros H Mq Pq one parsed sign worded HT M0 HF I Ew Tw A0 X0 End G. unfold walked in H.
  destruct (walk _ _ _ _ _ _ _ _ _ _ _ _ _ _) as [[[g1 hs] ns]|] eqn:Wk; [|discriminate]. injection H as ->.
  change (o_modulus P) with p in Wk. change (o_reads h) with reads in Wk. rewrite <- Mq, <- Pq in Wk.
  eapply (walk_ok Q cd cd_bytes cd_short code) with (taken := w) (o := r) (e := e) (extra := extra); try exact Wk; try eassumption;
    try (rewrite Mq; assumption); [rewrite Pq; exact parsed|].
  unfold way_ending in End. destruct (snd w) as [|l|c|q|n l]; try exact End. intros k1 m1 mw1 pc1 gas1 s1 M1 At Ar G1.
  unfold at_label in At. apply andb_prop in At as [At1 At2]. apply Z.ltb_lt in At1. apply Z.eqb_eq in At2. rewrite skipn_length in At1, At2.
  assert (pc1 = Z.to_nat (b_pc b)) as -> by lia. rewrite Mq in Ar. eapply End; eassumption.
Qed.

Lemma told_below n b : (n < Datatypes.S (carried L) + places_of_label b)%nat -> (told_value base n < top_of_label L base b)%positive.
Proof. intros H. unfold top_of_label, any, told_value. lia. Qed.
Lemma base_below b : (base <= top_of_label L base b)%positive.
Proof. unfold top_of_label, any, told_value. lia. Qed.

(* A turn that begins at a label, where its next one ends rightly. *)
Lemma turn_end n b hb to g : label_ok L base b = true -> turn_gas P h code base b hb to = Some g -> g <= b_gas b + per -> label_ok L base to = true ->
  forall i f k m gas, 0 <= i -> i + Z.of_nat (Datatypes.S n) = N -> standing b (with_index L i f) k m (b_mwords b) ->
  (n <> O -> forall f k m gas, standing to (with_index L (i + 1) f) k m (b_mwords to) -> b_gas to + per * Z.of_nat n <= gas ->
    Eval code cd (State k m (b_mwords to) (Z.to_nat (b_pc to)) gas) (end_of (finish (turns p cd L n (i + 1) f)))) ->
  b_gas b + per * Z.of_nat (Datatypes.S n) <= gas ->
  Eval code cd (State k m (b_mwords b) (Z.to_nat (b_pc b)) gas) (end_of (finish (turns p cd L (Datatypes.S n) i f))).
Proof.
  intros Ok H Gb Okt i f k m gas Hi Hn [Ton [Lk St]] Next G. unfold turn_gas in H.
  assert (Gt : 0 <= b_gas to) by (unfold label_ok in Okt; apply andb_prop in Okt as [Lt _]; apply andb_prop in Lt as [_ Lt]; apply Z.leb_le; exact Lt).
  destruct (turn_part P h base b hb) as [[[Q T] ways]|] eqn:Tp; [|discriminate]. unfold turn_part in Tp.
  destruct (words_ascend (top_of_label (o_loop P) base b) (s_words hb)) as [top|] eqn:Wt; [|discriminate].
  apply part_of_loop_ok in Tp as [gm [l [Run [EQ [As [Wy Tab]]]]]].
  set (told := told_of L b (with_index L i f) k m []) in *.
  set (e := part_env p cd reads names base told (s_words hb) (rev (done gm))).
  pose proof (base_below b) as Bb. change (top_of_label (o_loop P) base b) with (top_of_label L base b) in Wt.
  assert (Lo : forall j, (j < base)%positive -> e j = low j)
    by (intros j J; eapply (part_low p cd reads names base told (s_words hb) (top_of_label L base b) top); eassumption).
  assert (one : e 1%positive = 1) by (eapply (part_one p cd reads names first base); eassumption).
  assert (parsed : forall j off, In (j, off) reads -> e j = cdword cd off) by (intros j off J; eapply (part_parsed p cd reads names first base); eassumption).
  assert (sign : forall j, 0 <= e j) by (intros j; eapply (part_nonneg_ok p cd cd_bytes ltac:(lia) reads names first base); eassumption).
  assert (worded : forall j o a c, In (j, (o, a, c)) (names ++ s_words hb) -> e j = named_value cd e o a c)
    by (intros j o a c J; eapply (part_worded p cd reads names first base); eassumption).
  assert (Hh : Forall (holds p e) (rev (done gm))) by (eapply (part_holds p cd reads names base); eassumption).
  destruct (Tab e p_pos one Hh) as [HT Gm]. assert (Mq : modulus Q = p) by (rewrite EQ; reflexivity).
  assert (Pq : parses Q = reads) by (rewrite EQ; reflexivity).
  destruct (St Q e Mq Lo) as [Sm Sr Sf Si].
  { intros j J. eapply (part_told p cd reads names base told (s_words hb) (top_of_label L base b) top); try eassumption.
    apply told_below. unfold told, told_of in J. rewrite app_length, map_length in J. cbn [length] in J.
    rewrite app_nil_r, app_length, map_length, Lk in J. unfold carried, places_of_label. change (o_loop P) with L in J |- *. lia. }
  rewrite Mq in Sm. cbn [wrds with_index] in Si. unfold set in Si at 1. rewrite Pos.eqb_refl in Si.
  assert (qp : 1 < modulus Q) by (rewrite Mq; exact p_pos). assert (qf : modulus Q < W) by (rewrite Mq; exact p_fits).
  assert (parsed' : forall j off, In (j, off) (parses Q) -> e j = cdword cd off) by (rewrite Pq; exact parsed).
  destruct (turn_ok Q cd cd_bytes cd_short qp e one parsed' sign (names ++ s_words hb) worded L (o_after P) count base (path_of_label L base b)
    (with_index L i f) i N (Made top []) gm l) as [x [I Fx]]; try assumption; [rewrite Mq, Pq; exact Run | apply counted; assumption | lia |].
  rewrite Mq in Fx. destruct (ways_of_in _ _ _ I _ Wy) as [w [Ew Iw]].
  assert (Start : forall r, truths Q cd e (fst w) -> way_ending Q cd e w r (fun q => forall k m mw gas s, match_ok Q cd e k m mw s ->
      arrives_at p L T to q s (fst w) = true -> b_gas to + per * Z.of_nat n <= gas -> Eval code cd (State k m mw (Z.to_nat (b_pc to)) gas) r) ->
    Eval code cd (State k m (b_mwords b) (Z.to_nat (b_pc b)) gas) r).
  { intros r Tw End. eapply walked_ok with (extra := per * Z.of_nat n); [exact H | exact Mq | exact Pq | exact one | exact parsed | exact sign | exact worded | exact HT |
      exact (Sm _) | exact Sf | exact Iw | exact Ew | exact Tw | exact Gt | nia | exact End | nia]. }
  cbn [turns]. destruct (mean p cd (l_turn L) (with_index L i f)) as [f1|o].
  - destruct (Z.eqb_spec (i + 1) N) as [E|E]; unfold goes_on in Fx.
    + assert (n = O) as -> by lia. cbn [turns finish]. rewrite Mq in Fx.
      destruct (way_of_ok _ _ _ _ _ _ _ HT Ew Fx (fun q => forall k m mw gas s, match_ok Q cd e k m mw s ->
        arrives_at p L T to q s (fst w) = true -> b_gas to + per * Z.of_nat 0 <= gas ->
        Eval code cd (State k m mw (Z.to_nat (b_pc to)) gas) (end_of (mean p cd (o_after P) (with_results L (with_state L (l_gives L) f1)))))) as [Tw [o [Eo End]]].
      rewrite Eo in End |- *. apply Start; [exact Tw | exact End].
    + destruct Fx as [q [-> [Rq Tq]]]. injection Ew as <-. cbn [fst snd] in *.
      assert (Tw : truths Q cd e (map (fun f => (lifted T (fst f), snd f)) (facts q))) by (apply truths_lifted; assumption).
      apply Start; [exact Tw|]. unfold way_ending. cbn [fst snd]. intros k1 m1 mw1 gas1 s1 M1 Ar G1.
      assert (mw1 = b_mwords to) as ->.
      { rewrite (ms_mw _ _ _ _ _ _ _ M1). unfold arrives_at in Ar. repeat (apply andb_prop in Ar as [Ar _]). apply Z.eqb_eq. exact Ar. }
      apply Next; [lia | | exact G1].
      eapply standing_ok; eassumption.
  - cbn [finish]. destruct (way_of_ok _ _ _ _ _ _ _ HT Ew Fx (fun q => forall k m mw gas s, match_ok Q cd e k m mw s ->
        arrives_at p L T to q s (fst w) = true -> b_gas to + per * Z.of_nat n <= gas ->
        Eval code cd (State k m mw (Z.to_nat (b_pc to)) gas) o)) as [Tw [o' [Eo End]]]. injection Eo as <-.
    apply Start; [exact Tw | exact End].
Qed.

(* From a label on, with one turn left or more. *)
Lemma turns_end n : forall l b hb r, turns_ok P h code base l = true -> l = (b, hb) :: r ->
  forall i f k m gas, 0 <= i -> i + Z.of_nat (Datatypes.S n) = N -> standing b (with_index L i f) k m (b_mwords b) ->
  b_gas b + per * Z.of_nat (Datatypes.S n) <= gas ->
  Eval code cd (State k m (b_mwords b) (Z.to_nat (b_pc b)) gas) (end_of (finish (turns p cd L (Datatypes.S n) i f))).
Proof.
  assert (here : forall b hb r, turns_ok P h code base ((b, hb) :: r) = true -> label_ok L base b = true).
  { intros b hb r H. cbn [turns_ok] in H. apply andb_prop in H as [H _]. apply andb_prop in H as [H _]. apply andb_prop in H as [H _]. exact H. }
  induction n as [|n IH]; intros l b hb r Ok El i f k m gas Hi Hn St G; subst l; pose proof (here _ _ _ Ok) as Lb; pose proof Ok as Ok'; cbn [turns_ok] in Ok;
    apply andb_prop in Ok as [Ok Rest]; apply andb_prop in Ok as [_ Tg];
    set (to := match r with (to, _) :: _ => to | [] => b end) in *;
    (assert (exists hto rto, turns_ok P h code base ((to, hto) :: rto) = true) as [hto [rto Ot]];
     [destruct r as [|[b1 h1] r]; [exists hb, []; exact Ok' | exists h1, r; exact Rest] |]);
    (destruct (turn_gas P h code base b hb to) as [g|] eqn:Tu; [|discriminate]); apply Z.leb_le in Tg;
    apply (turn_end _ b hb to g Lb Tu Tg (here _ _ _ Ot) i f k m gas Hi Hn St); try exact G.
  - intros C. destruct (C eq_refl).
  - intros _ f1 k1 m1 gas1 St1 G1. apply (IH _ to hto rto Ot eq_refl); [lia | lia | exact St1 | exact G1].
Qed.
End Whole.

(* Where code begins. *)
Lemma start_ok Q cd e hs : match_ok Q cd e [] (fun _ => 0) 0 (S [] (PositiveMap.empty sword) 0 hs).
Proof. split; cbn [sstack smem Check.smw]; [constructor | apply zeros_ok | reflexivity]. Qed.

(* Code ends as the program means, whatever calldata is, with any gas from g0 on and that of its turns. *)
Theorem check_loop_sound P h code g0 : check_loop P h code = Some g0 ->
  forall cd, Forall is_byte cd -> Z.of_nat (length cd) < W ->
  forall g, g0 + o_turn_gas h * turns_of P cd <= g -> Eval code cd (start g) (looped_meaning P cd).
Proof.
  unfold check_loop. intros H cd Hcd Len g G. destruct (base_of h) as [base|] eqn:Bs; [|discriminate]. unfold base_of in Bs.
  destruct (parses_ascend 2 (o_reads h)) as [first|] eqn:Ra; [|discriminate].
  destruct (o_labels h) as [|[b hb] r] eqn:Ls; [discriminate|].
  destruct (Z.ltb_spec 1 (o_modulus P)) as [p_pos|]; [|discriminate]. destruct (Z.ltb_spec (o_modulus P) W) as [p_fits|]; [|discriminate].
  destruct (Z.leb_spec 0 (o_turn_gas h)) as [per|]; [|discriminate]. cbn [andb] in H.
  destruct (word_below base (o_count h)) eqn:Cb; [|discriminate]. destruct (single (o_count h)) eqn:Cs; [|discriminate]. cbn [andb] in H.
  destruct (turns_ok P h code base ((b, hb) :: r)) eqn:Ok; [|discriminate].
  assert (Lb : label_ok (o_loop P) base b = true).
  { cbn [turns_ok] in Ok. apply andb_prop in Ok as [Ok _]. apply andb_prop in Ok as [Ok _]. apply andb_prop in Ok as [Ok _]. exact Ok. }
  assert (Gb : 0 <= b_gas b) by (unfold label_ok in Lb; apply andb_prop in Lb as [Lb _]; apply andb_prop in Lb as [_ Lb]; apply Z.leb_le; exact Lb).
  unfold before_gas in H. destruct (before_part P h base) as [[[Q T] ways]|] eqn:Bp; [|discriminate]. unfold before_part in Bp.
  apply part_of_loop_ok in Bp as [gm [l [Run [EQ [As [Wy Tab]]]]]].
  set (p := o_modulus P) in *. set (names := s_words (o_first h)) in *. set (reads := o_reads h) in *.
  set (e := part_env p cd reads names base [] [] (rev (done gm))).
  assert (Wa : words_ascend base [] = Some base) by reflexivity.
  assert (Lo : forall j, (j < base)%positive -> e j = low cd reads names j)
    by (intros j J; eapply (part_low p cd reads names base [] [] base base); [lia | exact Wa | exact As | exact J]).
  assert (one : e 1%positive = 1) by (eapply (part_one p cd reads names first base Ra Bs [] [] base base); [lia | exact Wa | exact As]).
  assert (parsed : forall j off, In (j, off) reads -> e j = cdword cd off)
    by (intros j off J; eapply (part_parsed p cd reads names first base Ra Bs [] [] base base); [lia | exact Wa | exact As | exact J]).
  assert (sign : forall j, 0 <= e j)
    by (intros j; eapply (part_nonneg_ok p cd Hcd ltac:(lia) reads names first base Bs []); [constructor | exact Wa]).
  assert (worded : forall j o a c, In (j, (o, a, c)) (names ++ []) -> e j = named_value cd e o a c)
    by (intros j o a c J; eapply (part_worded p cd reads names first base Bs [] [] base base); [lia | exact Wa | exact As | exact J]).
  assert (Hh : Forall (holds p e) (rev (done gm))) by (eapply (part_holds p cd reads names base [] []); exact As).
  destruct (Tab e p_pos one Hh) as [HT Gm]. assert (Mq : modulus Q = p) by (rewrite EQ; reflexivity).
  assert (Pq : parses Q = reads) by (rewrite EQ; reflexivity).
  assert (qp : 1 < modulus Q) by (rewrite Mq; exact p_pos). assert (qf : modulus Q < W) by (rewrite Mq; exact p_fits).
  assert (parsed' : forall j off, In (j, off) (parses Q) -> e j = cdword cd off) by (rewrite Pq; exact parsed).
  assert (worded' := worded). rewrite app_nil_r in worded'.
  (* The number of turns. *)
  set (N := match o_count h with SRaw i => e i | SSize => Z.of_nat (length cd) | x => match exactly x with Some v => v | None => 0 end end).
  assert (Cn : forall u, is_word Q cd e u (o_count h) -> u = N).
  { intros u Hu. unfold N, single in *. destruct (o_count h) as [s lo hi|i| |c|s n|s parts]; try exact (proj2 Hu);
      destruct (exactly _) as [v|] eqn:X; try discriminate; exact (exactly_ok _ _ _ _ _ _ Hu X). }
  destruct (before_ok Q cd Hcd Len qp e one parsed' sign names worded' (o_loop P) (o_after P) (o_count h) (o_before P) (Made base []) gm l N)
    as [x [I Fx]]; try assumption; [rewrite Mq, Pq; exact Run|]. rewrite Mq in Fx.
  destruct (ways_of_in _ _ _ I _ Wy) as [w [Ew Iw]].
  assert (Start : forall r extra, 0 <= extra -> truths Q cd e (fst w) -> way_ending Q cd e w r (fun q => forall k m mw gas s, match_ok Q cd e k m mw s ->
      arrives_at p (o_loop P) T b q s (fst w) = true -> b_gas b + extra <= gas -> Eval code cd (State k m mw (Z.to_nat (b_pc b)) gas) r) ->
    g0 + extra <= g -> Eval code cd (start g) r).
  { intros r0 extra X0 Tw End G1. unfold start. rewrite <- (app_nil_r names) in H.
    eapply (walked_ok P h code cd Hcd Len p_pos) with (pc := O) (extra := extra); [exact H | exact Mq | exact Pq | exact one | exact parsed | exact sign | exact worded | exact HT |
      apply start_ok | constructor | exact Iw | exact Ew | exact Tw | exact Gb | exact X0 | exact End | exact G1]. }
  unfold looped_meaning, turns_of in *. fold p in G |- *. destruct (mean p cd (o_before P) blank_frame) as [f|o].
  - destruct Fx as [En [Wn Gn]]. rewrite En in G |- *. assert (Nn : 0 <= N) by apply Wn. unfold goes_on in Gn.
    destruct (Z.eqb_spec N 0) as [Z0|NZ].
    + rewrite Z0. change (Z.to_nat 0) with O. cbn [turns]. rewrite Mq in Gn.
      destruct (way_of_ok _ _ _ _ _ _ _ HT Ew Gn (fun q => forall k m mw gas s, match_ok Q cd e k m mw s ->
        arrives_at p (o_loop P) T b q s (fst w) = true -> b_gas b + 0 <= gas ->
        Eval code cd (State k m mw (Z.to_nat (b_pc b)) gas)
          (end_of (mean p cd (o_after P) (with_results (o_loop P) (with_state (o_loop P) (l_first (o_loop P)) f)))))) as [Tw [o [Eo End]]].
      rewrite Eo in End |- *. apply (Start o 0); [lia | exact Tw | exact End | lia].
    + destruct Gn as [q [-> [Rq Tq]]]. injection Ew as <-. cbn [fst snd] in *.
      assert (Tw : truths Q cd e (map (fun f => (lifted T (fst f), snd f)) (facts q))) by (apply truths_lifted; assumption).
      apply (Start _ (o_turn_gas h * N)); [nia | exact Tw | | exact G]. unfold way_ending. cbn [fst snd]. intros k1 m1 mw1 gas1 s1 M1 Ar G1.
      assert (mw1 = b_mwords b) as ->.
      { rewrite (ms_mw _ _ _ _ _ _ _ M1). unfold arrives_at in Ar. repeat (apply andb_prop in Ar as [Ar _]). apply Z.eqb_eq. exact Ar. }
      destruct (Z.to_nat N) as [|n] eqn:Nz; [lia|].
      assert (cnt : forall Q' e', modulus Q' = p -> (forall j, (j < base)%positive -> e' j = low cd reads names j) -> is_word Q' cd e' N (o_count h)).
      { intros Q' e' M' L'. apply (word_below_ok Q Q') with (e := e) (base := base); [congruence | | exact Cb | exact Wn].
        intros j J. rewrite Lo, L' by exact J. reflexivity. }
      assert (St : standing P h cd base b (with_index (o_loop P) 0 (with_state (o_loop P) (l_first (o_loop P)) f)) k1 m1 (b_mwords b))
        by (eapply standing_ok; eassumption).
      assert (NE : 0 + Z.of_nat (Datatypes.S n) = N) by lia.
      assert (GE : b_gas b + o_turn_gas h * Z.of_nat (Datatypes.S n) <= gas1) by nia.
      pose proof (turns_end P h code cd Hcd Len p_pos p_fits per first base Ra Bs N cnt n _ _ _ _ Ok eq_refl 0
        (with_state (o_loop P) (l_first (o_loop P)) f) k1 m1 gas1 ltac:(lia) NE St GE) as K.
      unfold finish in K. fold p in K. destruct (turns p cd (o_loop P) (Datatypes.S n) 0 _); exact K.
  - destruct (way_of_ok _ _ _ _ _ _ _ HT Ew Fx (fun q => forall k m mw gas s, match_ok Q cd e k m mw s ->
        arrives_at p (o_loop P) T b q s (fst w) = true -> b_gas b + 0 <= gas ->
        Eval code cd (State k m mw (Z.to_nat (b_pc b)) gas) o)) as [Tw [o' [Eo End]]]. injection Eo as <-.
    apply (Start o 0); [lia | exact Tw | exact End | lia].
Qed.

Print Assumptions check_loop_sound.
