(* The checker of programs with branches and calls is sound for code with slots: `check_flow_slots_sound`. *)
From Coq Require Import ZArith List Bool Lia FMapPositive.
From Residue Require Import Evm Words Program Check Sums Sound Slots CheckSlots Copies SoundSlots Flow CheckFlow SoundFlow CheckFlowSlots.
Import ListNotations.
Open Scope Z_scope.

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
Hypothesis p_fits : p < W.
Hypothesis p_odd : Z.odd p = true.
Variable e : env.
Hypothesis one : e 1%positive = 1.
Hypothesis parsed : forall i off, In (i, off) (parses P) -> e i = cdword cd off.
Hypothesis no_sign : forall i, 0 <= e i.
Variable wnames : list named_word.
Hypothesis worded : forall i o a b, In (i, (o, a, b)) wnames -> e i = named_value cd e o a b.
Variable T : tables.
Hypothesis HT : tables_ok P e T.
Variable taken : way.
Hypothesis true_way : truths P cd e (fst taken).
Variable o : outcome.
(* Where a loop's next turn begins, and the gas with which code ends rightly from there on: so much, and some more that is known outside. *)
Variable turn_at : list Z -> bool.
Variable arrives : fstate -> list fact -> path -> bool.
Variables after extra : Z.
Hypothesis after_pos : 0 <= after.
Hypothesis extra_pos : 0 <= extra.
Hypothesis ending : match snd taken with
  | Again q => forall k m mw pc f gas st, state_ok P cd e k m mw f st -> turn_at (skipn pc code) = true -> arrives st (fst taken) q = true ->
      after + extra <= gas -> FEval next code cd (State k m mw pc gas) f o
  | _ => way_ends P cd e taken o
  end.
Let jumps := blank next O O code.

Notation state_ok := (state_ok P cd e).
Notation fwalk := (fwalk p next code jumps P wnames turn_at arrives after).
Notation field_step := (field_step p code P wnames).

Lemma plus_inv' c r g hs names : plus c r = Some (g, hs, names) -> exists h, r = Some (h, hs, names) /\ g = c + h.
Proof. destruct r as [[[h hs1] ns]|]; [|discriminate]. intros H. exists h. injection H as <- <- <-. split; reflexivity. Qed.

Lemma true_where c b l : In taken l -> ceval P cd e c = b -> In taken (where_ p c b l).
Proof.
  intros I H. unfold where_. apply filter_In. split; [exact I|].
  destruct (decide p (fst taken) c) as [b'|] eqn:D; [|reflexivity].
  assert (ceval P cd e c = b') by (eapply decide_ok; eauto). apply Bool.eqb_true_iff. congruence.
Qed.

Lemma true_some l : (forall c, In c l -> ceval P cd e c = false) -> some_true p l taken = false.
Proof.
  intros H. apply not_true_is_false. intros A. apply existsb_exists in A as [c [I D]].
  destruct (decide p (fst taken) c) as [[]|] eqn:Dc; try discriminate.
  assert (ceval P cd e c = true) by (eapply decide_ok; eauto). rewrite (H _ I) in *. discriminate.
Qed.

Lemma excluded_ok st st' l : failures st' = l ++ failures st -> excluded st st' = l.
Proof.
  intros E. unfold excluded. rewrite E, app_length. replace (length l + length (failures st) - length (failures st))%nat with (length l) by lia.
  rewrite firstn_app, firstn_all, Nat.sub_diag, app_nil_r. reflexivity.
Qed.

Lemma excluded_in st st' c : In c (excluded st st') -> In c (failures st').
Proof.
  unfold excluded. intros I. rewrite <- (firstn_skipn (length (failures st') - length (failures st)) (failures st')).
  apply in_or_app. left. exact I.
Qed.

Lemma field_step_ok i st cost st' k m mw f : state_ok k m mw f st -> field_step T i st = Some (cost, st') ->
  goes P cd code e i k m mw f cost st' \/ fails_right P cd code e (fun _ => true) i k m mw f st st'.
Proof.
  intros HS H. unfold CheckFlowSlots.field_step in H. destruct (sfield p code P (fun _ => true) T i st) as [[c s1]|] eqn:X.
  { injection H as <- <-. eapply sfield_ok; eauto. }
  clear X. left. unfold word_copy in H. destruct i; try discriminate. pose proof HS as [[Hk Hm Hw] HF HC].
  destruct (sstack (base st)) as [|x [|y [|z r]]]; try discriminate. destruct (slot_of x) as [[a key]|] eqn:X; [|discriminate].
  destruct (at_word wnames y) as [h|] eqn:A; [|discriminate]. destruct (exactly z) as [n|] eqn:Y; [|discriminate].
  destruct (Z.eqb_spec n 32) as [->|]; [|discriminate]. assert (H' : copy st r a key 32 [SRaw h] = (cost, st')) by congruence. clear H.
  inversion Hk as [|wa ? k1 ? Ha Hk1]; subst. inversion Hk1 as [|wb ? k2 ? Hb Hk2]; subst. inversion Hk2 as [|wc ? k3 ? Hc Hk3]; subst.
  destruct (slot_ok _ _ _ _ _ _ _ Ha X) as [-> [_ E]]. apply (exactly_ok _ _ _ _ _ _ Hc) in Y. subst wc.
  assert (Hh : is_word P cd e (cdword cd wb) (SRaw h)).
  { split; [apply cdword_range; exact cd_bytes|]. eapply at_word_ok; eauto. }
  assert (copied_one : exists m' mw', copied k3 m (smw (base st)) f cd a wb 32 = (cost, Some (k3, m', mw', f)) /\ state_ok k3 m' mw' f st').
  { assert (Q : cost = fst (copy st r a key 32 [SRaw h]) /\ st' = snd (copy st r a key 32 [SRaw h])) by (rewrite H'; split; reflexivity).
    destruct Q as [-> ->]. eapply copied_ok with (ws := [cdword cd wb]); eauto.
    intros x0. cbn [flat_map]. rewrite app_nil_r. unfold cdword. change (Z.to_nat 32) with 32%nat.
    rewrite <- (bytes_of_beZ (take 32 (skipn (Z.to_nat wb) cd))) at 1 by (apply take_bytes, skipn_Forall; exact cd_bytes).
    rewrite take_length. reflexivity. }
  destruct copied_one as [m' [mw' [G S1]]]. unfold goes. do 4 eexists. split; [cbn [fexec]; rewrite G; reflexivity | exact S1].
Qed.

Lemma fwalk_nonneg fuel : forall ways rest st g hs ns, fwalk fuel T ways rest st = Some (g, hs, ns) -> 0 <= g.
Proof.
  induction fuel as [|fuel IH]; intros ways rest st g hs ns H; [discriminate|]. cbn [CheckFlowSlots.fwalk] in H.
  destruct (fdecode next rest) as [[i n]|].
  { destruct (field_step T i st) as [[cost st']|]; [|discriminate].
    match type of H with (if ?b then _ else _) = _ => destruct b eqn:B; [|discriminate] end.
    apply andb_prop in B as [B _]. apply andb_prop in B as [_ C]. apply Z.leb_le in C.
    destruct (filter _ ways); [injection H as <- _ _; lia|]. apply plus_inv' in H as [h [R ->]]. apply IH in R. lia. }
  destruct (decode rest) as [i n].
  assert (plain : match splain p P T i (over_base st (widened i (base st))) with
    | Some (cost, st) => if (0 <=? cost) && within (sstack (base st)) then plus cost (fwalk fuel T ways (skipn n rest) st) else None
    | None =>
        match word_step p wnames (fun x => x) i (base st) with
        | Some (cost, s) => if within (sstack s) then plus cost (fwalk fuel T ways (skipn n rest) (over_base st s)) else None
        | None => None
        end
    end = Some (g, hs, ns) -> 0 <= g).
  { clear H. intros H. destruct (splain p P T i _) as [[cost st']|].
    2: { destruct (word_step p wnames (fun x => x) i (base st)) as [[cost s1]|] eqn:Ws; [|discriminate]. destruct (within _); [|discriminate].
         apply plus_inv' in H as [h [R ->]]. apply IH in R. apply word_step_cost in Ws. lia. }
    destruct (Z.leb_spec 0 cost); [|discriminate]. destruct (within _); [|discriminate].
    apply plus_inv' in H as [h [R ->]]. apply IH in R. lia. }
  destruct i; try (apply plain; exact H).
  - destruct (sstack (base st)) as [|d r]; [discriminate|]. destruct (exactly d); [|discriminate]. destruct (_ && _); [|discriminate].
    apply plus_inv' in H as [h [R ->]]. apply IH in R. lia.
  - destruct (sstack (base st)) as [|d [|x r]]; try discriminate. destruct (exactly d) as [dv|]; [|discriminate].
    destruct (iszero p x) as [c|]; [|discriminate]. destruct (within r); [|discriminate].
    match type of H with match ?t with _ => _ end = _ => destruct t as [[[g1 hs1] ns1]|] eqn:On; [|discriminate] end.
    assert (0 <= g1).
    { destruct (where_ p c true ways); [injection On as <- <- <-; lia | apply IH in On; exact On]. }
    destruct (where_ p c false ways) as [|w l]; [assert (g = 10 + g1) by congruence; lia|].
    destruct (_ && _); [|discriminate].
    match type of H with match ?t with _ => _ end = _ => destruct t as [[[g2 hs2] ns2]|]; [|discriminate] end.
    assert (g = 10 + Z.max g1 g2) by congruence. lia.
  - destruct (forallb again ways && turn_at rest); [|apply plain; exact H]. destruct (forallb (fcomes arrives st) ways); [|discriminate].
    injection H as <- _ _. exact after_pos.
  - destruct (sstack (base st)) as [|x [|y r]]; try discriminate. destruct (slot_of x) as [[a key]|]; [|discriminate].
    destruct (exactly y) as [v|]; [|discriminate]. destruct (forallb _ ways); [|discriminate]. cbn [andb] in H.
    destruct (0 <=? _) eqn:C; [|discriminate]. apply Z.leb_le in C. injection H as <- _ _. exact C.
  - destruct (forallb failed ways); [|discriminate]. injection H as <- _ _. lia.
Qed.

Lemma state_over k k' m mw f st r hs names : state_ok k m mw f st -> stack_ok P cd e k' r ->
  state_ok k' m mw f (FS (S r (smem (base st)) (smw (base st)) hs) (known st) (failures st) names).
Proof.
  intros [[_ Hm Hw] HF HC] Hk. split; cbn [base known failures]; [split; cbn [sstack smem Check.smw]; assumption | exact HF | exact HC].
Qed.

Lemma fwalk_ok fuel : forall pc ways st g hs ns k m mw f gas, state_ok k m mw f st -> In taken ways ->
  fwalk fuel T ways (skipn pc code) st = Some (g, hs, ns) -> g + extra <= gas -> FEval next code cd (State k m mw pc gas) f o.
Proof.
  induction fuel as [|fuel IH]; intros pc ways st g hs ns k m mw f gas HS I H G; [discriminate|].
  cbn [CheckFlowSlots.fwalk] in H.
  assert (B : forall a, a + beside (reserved f) mw mw = a) by (intros a; unfold beside, growth; lia).
  assert (steps : forall cost (s' : state) f', cost <= gas -> Z.of_nat (length (stack s')) <= 1024 ->
    charged (State k m mw pc gas) cost s' f' = FNext s' f').
  { intros cost s' f' C L. unfold charged. cbn [Evm.gas]. destruct (Z.ltb_spec gas cost); [lia|].
    destruct (Z.ltb_spec 1024 (Z.of_nat (length (stack s')))); [lia|]. reflexivity. }
  destruct (fdecode next (skipn pc code)) as [[i n]|] eqn:D.
  { destruct (field_step T i st) as [[cost st1]|] eqn:X; [|discriminate].
    match type of H with (if ?b then _ else _) = _ => destruct b eqn:Bs; [|discriminate] end.
    apply andb_prop in Bs as [Bs Wi]. apply andb_prop in Bs as [All C]. apply Z.leb_le in C.
    assert (Or : goes P cd code e i k m mw f cost st1 \/ fails_right P cd code e (fun _ => true) i k m mw f st st1).
    { eapply field_step_ok; eauto. }
    destruct Or as [[k' [m' [mw' [f' [E HS1]]]]]|[[c E] [l [El [c' [Ic [_ Tc]]]]]]].
    - assert (I1 : In taken (filter (fun w => negb (some_true p (excluded st st1) w)) ways)).
      { apply filter_In. split; [exact I|]. rewrite true_some; [reflexivity|]. intros c Ic. apply HS1, excluded_in with st. exact Ic. }
      destruct (filter _ ways) as [|w ws]; [destruct I1|].
      apply plus_inv' in H as [h [R ->]]. rewrite skipn_skipn' in R. pose proof (fwalk_nonneg _ _ _ _ _ _ _ R).
      eapply FEval_step; [|eapply (IH _ _ _ _ _ _ k' m' mw' f' (gas - cost) HS1 I1 R); lia].
      unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, E. apply steps; [lia|]. cbn [stack].
      unfold within in Wi. apply Z.leb_le in Wi. rewrite (stack_length _ _ _ _ _ (ms_stack _ _ _ _ _ _ _ (so_base _ _ _ _ _ _ _ _ HS1))). exact Wi.
    - rewrite (excluded_ok _ _ _ El) in All. rewrite forallb_forall in All. specialize (All _ I).
      unfold failed in All. unfold way_ends in ending. cbv zeta in ending. destruct (snd taken) as [|r|r|r|r1 r2].
      2-5: exfalso; cbn [orb] in All; unfold all_false in All; rewrite forallb_forall in All; specialize (All _ Ic);
        (destruct (decide p (fst taken) c') as [[]|] eqn:Dc; try discriminate);
        assert (ceval P cd e c' = false) by (eapply decide_ok; eauto); congruence.
      rewrite ending. apply FEval_halt. unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, E. reflexivity. }
  destruct (decode (skipn pc code)) as [i n] eqn:D'.
  assert (plain : match splain p P T i (over_base st (widened i (base st))) with
    | Some (cost, st) =>
        if (0 <=? cost) && within (sstack (base st)) then plus cost (fwalk fuel T ways (skipn n (skipn pc code)) st) else None
    | None =>
        match word_step p wnames (fun x => x) i (base st) with
        | Some (cost, s) => if within (sstack s) then plus cost (fwalk fuel T ways (skipn n (skipn pc code)) (over_base st s)) else None
        | None => None
        end
    end = Some (g, hs, ns) -> FEval next code cd (State k m mw pc gas) f o).
  { clear H. intros H. destruct (splain p P T i _) as [[cost st1]|] eqn:X.
    2: { destruct (word_step p wnames (fun x => x) i (base st)) as [[cost s1]|] eqn:Ws; [|discriminate]. destruct (within _) eqn:Wi; [|discriminate].
         apply plus_inv' in H as [h [R ->]]. rewrite skipn_skipn' in R. pose proof (fwalk_nonneg _ _ _ _ _ _ _ R) as N1.
         destruct HS as [HB HF HC].
         assert (0 <= cost /\ exists k', exec jumps cd i (pc + n) k m mw = (cost, Go k' m mw (pc + n)) /\ match_ok P cd e k' m mw s1)
           as [C0 [k' [E HM']]] by (eapply word_step_ok; eauto; intros ? ? Q; exact Q).
         eapply FEval_step; [|eapply (IH _ _ _ _ _ _ k' m mw f (gas - cost)); [|exact I | exact R | lia]].
         - unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, D'. fold jumps. rewrite E. cbv zeta. rewrite B. apply steps; [lia|].
           cbn [stack]. unfold within in Wi. apply Z.leb_le in Wi. rewrite (stack_length _ _ _ _ _ (ms_stack _ _ _ _ _ _ _ HM')). exact Wi.
         - split; cbn [over_base base known failures]; assumption. }
    assert (HS' : state_ok k m mw f (over_base st (widened i (base st)))).
    { destruct HS as [HB HF HC]. split; cbn [over_base base known failures]; [|exact HF | exact HC]. apply widened_ok; auto. }
    destruct (Z.leb_spec 0 cost); [|discriminate]. destruct (within _) eqn:Wi; [|discriminate]. cbn [andb] in H.
    apply plus_inv' in H as [h [R ->]]. rewrite skipn_skipn' in R. pose proof (fwalk_nonneg _ _ _ _ _ _ _ R).
    assert (exists c k' m' mw', exec jumps cd i (pc + n) k m mw = (c, Go k' m' mw' (pc + n)) /\
      cost = c + beside (reserved f) mw mw' /\ state_ok k' m' mw' f st1) as [c [k' [m' [mw' [E [-> HS1]]]]]].
    { eapply splain_ok; eauto. }
    eapply FEval_step; [|eapply (IH _ _ _ _ _ _ k' m' mw' f (gas - (c + beside (reserved f) mw mw')) HS1 I R); lia].
    unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, D'. fold jumps. rewrite E. cbv zeta. apply steps; [lia|].
    cbn [stack]. unfold within in Wi. apply Z.leb_le in Wi.
    rewrite (stack_length _ _ _ _ _ (ms_stack _ _ _ _ _ _ _ (so_base _ _ _ _ _ _ _ _ HS1))). exact Wi. }
  pose proof HS as [[Hk Hm Hw] HF HC].
  destruct i; try (apply plain; exact H).
  - (* JUMP *)
    destruct (sstack (base st)) as [|d r] eqn:SS; [discriminate|]. destruct (exactly d) as [dv|] eqn:X; [|discriminate].
    destruct (Z.leb_spec 0 dv); [|discriminate]. destruct (valid jumps dv) eqn:V; [|discriminate].
    destruct (within r) eqn:Wi; [|discriminate]. cbn [andb] in H.
    apply plus_inv' in H as [h [R ->]]. pose proof (fwalk_nonneg _ _ _ _ _ _ _ R).
    inversion Hk as [|w ? k1 ? Hd Hk1]; subst k. apply (exactly_ok _ _ _ _ _ _ Hd) in X. subst w.
    apply Z.leb_le in Wi. pose proof (stack_length _ _ _ _ _ Hk1) as Len.
    eapply FEval_step; [|eapply (IH (Z.to_nat dv) _ _ _ _ _ k1 m mw f (gas - 8)); [eapply state_over; eassumption | exact I | exact R | lia]].
    unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, D'. fold jumps. cbn [exec]. rewrite V. cbv zeta. rewrite B.
    apply steps; [lia | cbn [stack]; lia].
  - (* JUMPI *)
    destruct (sstack (base st)) as [|d [|x r]] eqn:SS; try discriminate. destruct (exactly d) as [dv|] eqn:X; [|discriminate].
    destruct (iszero p x) as [c|] eqn:Z0; [|discriminate]. destruct (within r) eqn:Wi; [|discriminate].
    inversion Hk as [|w ? k1 ? Hd Hk1]; subst k. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst k1.
    apply (exactly_ok _ _ _ _ _ _ Hd) in X. subst w. apply (iszero_ok P cd p_pos e _ _ _ Hu) in Z0.
    apply Z.leb_le in Wi. pose proof (stack_length _ _ _ _ _ Hk2) as Len.
    assert (HS2 : forall hs names, state_ok k2 m mw f (FS (S r (smem (base st)) (smw (base st)) hs) (known st) (failures st) names))
      by (intros; eapply state_over; eassumption).
    match type of H with match ?t with _ => _ end = _ => destruct t as [[[g1 hs1] ns1]|] eqn:On; [|discriminate] end.
    assert (N1 : 0 <= g1).
    { destruct (where_ p c true ways); [injection On as <- _ _; lia | apply fwalk_nonneg in On; exact On]. }
    destruct (ceval P cd e c) eqn:Ec.
    + pose proof (true_where _ _ _ I Ec) as I1. destruct (where_ p c true ways) as [|w l]; [destruct I1|].
      assert (g1 + extra + 10 <= gas).
      { destruct (where_ p c false ways) as [|w3 l3]; [assert (g = 10 + g1) by congruence; lia|].
        destruct (_ && _); [|discriminate].
        match type of H with match ?t with _ => _ end = _ => destruct t as [[[g2 hs2] ns2]|]; [|discriminate] end.
        assert (g = 10 + Z.max g1 g2) by congruence. lia. }
      rewrite skipn_skipn' in On.
      eapply FEval_step; [|eapply (IH (pc + n)%nat _ _ _ _ _ k2 m mw f (gas - 10) (HS2 _ _) I1 On); lia].
      unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, D'. fold jumps. cbn [exec]. rewrite Z0. cbv zeta. rewrite B.
      apply steps; [lia | cbn [stack]; lia].
    + pose proof (true_where _ _ _ I Ec) as I1. destruct (where_ p c false ways) as [|w l]; [destruct I1|].
      destruct (Z.leb_spec 0 dv); [|discriminate]. destruct (valid jumps dv) eqn:V; [|discriminate]. cbn [andb] in H.
      match type of H with match ?t with _ => _ end = _ => destruct t as [[[g2 hs2] ns2]|] eqn:Off; [|discriminate] end.
      pose proof (fwalk_nonneg _ _ _ _ _ _ _ Off) as N2. assert (Eg : g = 10 + Z.max g1 g2) by congruence.
      eapply FEval_step; [|eapply (IH (Z.to_nat dv) _ _ _ _ _ k2 m mw f (gas - 10) (HS2 _ _) I1 Off); lia].
      unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, D'. fold jumps. cbn [exec]. rewrite Z0, V. cbv zeta. rewrite B.
      apply steps; [lia | cbn [stack]; lia].
  - (* JUMPDEST *)
    destruct (forallb again ways && turn_at (skipn pc code)) eqn:At; [|apply plain; exact H]. apply andb_prop in At as [_ At].
    destruct (forallb _ ways) eqn:All; [|discriminate].
    injection H as <- _ _. rewrite forallb_forall in All. specialize (All _ I). unfold fcomes in All.
    destruct (snd taken) as [| | |q|]; try discriminate. eapply ending; eassumption.
  - (* RETURN *)
    destruct (sstack (base st)) as [|x [|y r]] eqn:SS; try discriminate. destruct (slot_of x) as [[a key]|] eqn:X; [|discriminate].
    destruct (exactly y) as [v|] eqn:Y; [|discriminate]. destruct (forallb _ ways) eqn:All; [|discriminate]. cbn [andb] in H.
    destruct (0 <=? _) eqn:Cost; [|discriminate].
    match type of H with Some (?x, _, _) = _ => assert (Hg : x = g) by congruence end. clear H.
    rewrite forallb_forall in All. specialize (All _ I). unfold returned in All. unfold way_ends in ending. cbv zeta in ending.
    inversion Hk as [|w ? k1 ? Hx Hk1]; subst k. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst k1.
    destruct (slot_ok _ _ _ _ _ _ _ Hx X) as [Ea [Ha E]]. apply (exactly_ok _ _ _ _ _ _ Hu) in Y. subst w u.
    assert (o = Returned (mbytes m a (Z.to_nat v))) as ->.
    { destruct (snd taken) as [|l|c|l|]; try discriminate; apply andb_prop in All as [Ev Rt]; apply Z.eqb_eq in Ev; subst v.
      - destruct ending as [-> small]. f_equal. replace (Z.to_nat (32 * Z.of_nat (length l))) with (32 * length l)%nat by lia.
        rewrite E. symmetry. eapply returns_ok; eassumption.
      - rewrite ending. f_equal. destruct (M.find key (smem (base st))) as [[| | |c'| |]|] eqn:F0; try discriminate.
        apply (mem_words _ _ _ _ _ Hm) in F0 as [_ F0]. change (Z.to_nat 32) with 32%nat. rewrite mload_bytes by apply Hm.
        assert (ceval P cd e c = ceval P cd e c') as -> by (eapply same_ok; eauto). rewrite E, F0. reflexivity. }
    apply FEval_halt. unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, D'. cbn [exec]. cbv zeta.
    rewrite (reserved_ok _ _ _ _ HF), Hw.
    match goal with |- (if ?b then _ else _) = _ => replace b with false by (symmetry; apply Z.ltb_ge; lia) end. reflexivity.
  - (* INVALID *)
    destruct (forallb failed ways) eqn:All; [|discriminate]. rewrite forallb_forall in All. specialize (All _ I).
    unfold failed in All. unfold way_ends in ending. cbv zeta in ending. destruct (snd taken); try discriminate. rewrite ending.
    apply FEval_halt. unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, D'. reflexivity.
Qed.
End Run.

(* Code ends as the program means, whatever calldata is, with any gas from g0 on. *)
Theorem check_flow_slots_sound next P h code g0 : check_flow_slots next P h code = Some g0 ->
  forall cd, Forall is_byte cd -> Z.of_nat (length cd) < W ->
  forall g, g0 <= g -> FEval next code cd (start g) none (flow_meaning P cd).
Proof.
  unfold check_flow_slots. intros H cd Hcd Len g G. destruct (forallb _ code) eqn:By; [|discriminate].
  destruct (Z.odd (f_modulus P)) eqn:Odd; [|discriminate]. cbn [andb] in H.
  destruct (paths_of P h) as [[[Q T] ways]|] eqn:Pp; [|discriminate].
  destruct (fwalk _ _ _ _ _ _ _ _ _ _ _) as [[[g1 hs] ns]|] eqn:R; [|discriminate]. injection H as ->.
  destruct (paths_of_ok _ _ _ _ _ Pp) as [Ap pW].
  destruct (all_paths_ok _ _ _ _ _ Ap cd Hcd Len) as [Eq [Er [p1 [one [parsed [sign [worded [HT [w [Iw [Tw Ew]]]]]]]]]]].
  rewrite <- Eq in R, Odd.
  assert (Hc : Forall is_byte code).
  { apply Forall_forall. intros b I. rewrite forallb_forall in By. specialize (By _ I). unfold between in By.
    apply andb_prop in By as [L1 L2]. apply Z.leb_le in L1, L2. unfold is_byte. lia. }
  eapply (fwalk_ok Q cd Hcd Len next code Hc p1 pW Odd _ one parsed sign (h_words h) worded T HT w Tw _ (fun _ => false) (fun _ _ _ => false) 0 0); [lia | lia | | | exact Iw | exact R | lia].
  { unfold way_ends in *. destruct (snd w); [exact Ew | exact Ew | exact Ew | destruct Ew | exact Ew]. }
  split; cbn [base known failures]; [|reflexivity | intros c []].
  split; cbn [sstack smem Check.smw]; [constructor | apply zeros_ok | reflexivity].
Qed.

Print Assumptions check_flow_slots_sound.
