(* The checker of programs with a loop is sound for code with slots: `check_loop_slots_sound`. *)
From Coq Require Import ZArith List Bool Lia FMapPositive.
From Residue Require Import Evm Words Program Check Sums Sound Slots CheckSlots Copies SoundSlots Flow CheckFlow SoundFlow CheckFlowSlots SoundFlowSlots CheckLoop SoundLoop CheckLoopSlots.
Import ListNotations.
Open Scope Z_scope.

(* A proof is not to look into all splits. *)
Local Strategy opaque [split_fuel].

Definition slots_of (c : fields) : list Z := match now c with Some x => cslots x | None => [] end.

Lemma slots_at_find p L base l : forall n i0 i, M.find (key_of i) (slots_at p L base n i0 l) =
  if Nat.leb i0 i && Nat.ltb (i - i0) (length l) then Some (slot_at p L base (n + (i - i0)) (nth (i - i0) l Any)) else None.
Proof.
  induction l as [|t l IH]; intros n i0 i; cbn [slots_at length].
  - rewrite PositiveMap.gempty, andb_false_r. reflexivity.
  - rewrite find_add. unfold key_of. destruct (Pos.eqb_spec (Pos.of_succ_nat i) (Pos.of_succ_nat i0)) as [E|N].
    + assert (i = i0) as -> by lia. rewrite Nat.leb_refl, Nat.sub_diag, Nat.add_0_r. reflexivity.
    + rewrite IH. assert (i <> i0) by congruence. destruct (Nat.leb_spec i0 i) as [B|B].
      * destruct (Nat.leb_spec (Datatypes.S i0) i) as [A|A]; [|lia]. cbn [andb].
        replace (i - i0)%nat with (Datatypes.S (i - Datatypes.S i0)) by lia. cbn [nth].
        replace (n + Datatypes.S (i - Datatypes.S i0))%nat with (Datatypes.S n + (i - Datatypes.S i0))%nat by lia. reflexivity.
      * destruct (Nat.leb_spec (Datatypes.S i0) i) as [A|A]; [lia | reflexivity].
Qed.

Section Whole.
Variable rev : bool.
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
Hypothesis code_bytes : Forall is_byte code.
Hypothesis p_pos : 1 < p.
Hypothesis p_fits : p < W.
Hypothesis p_odd : Z.odd p = true.
Hypothesis per_pos : 0 <= per.
Variables first base : positive.
Hypothesis reads_ascend : parses_ascend 2 reads = Some first.
Hypothesis names_ascend : words_ascend first names = Some base.
Hypothesis count_below : word_below base count = true.
Hypothesis count_single : single count = true.

Let low := low cd reads names.
Notation finish := (finish P cd).

(* The number of turns is one for all values of a part. *)
Variable N : Z.
Hypothesis counted : forall Q e, modulus Q = p -> (forall j, (j < base)%positive -> e j = low j) -> is_word Q cd e N count.

(* Code and program at a label, for any values of its turn. *)
Definition standing (b : label) (f : frame) (k : list Z) (m : memory) (mw : Z) (c : fields) : Prop :=
  Forall (fun v => 0 <= v) (told_of L b f k m (slots_of c)) /\ length k = length (b_stack b) /\ length (slots_of c) = length (b_slots b) /\
  forall Q e, modulus Q = p -> (forall j, (j < base)%positive -> e j = low j) ->
    (forall n, (n < length (told_of L b f k m (slots_of c)))%nat -> e (told_value base n) = nth n (told_of L b f k m (slots_of c)) 0) ->
    stands Q cd L base b e f k m mw /\ fields_ok Q e c (field_of_label p L base b).

Lemma standing_slots_ok b Q e T f q k m mw c st F : label_ok L base b = true -> slots_ok L base b = true -> modulus Q = p -> e 1%positive = 1 -> (forall i, 0 <= e i) ->
  (forall j, (j < base)%positive -> e j = low j) -> rel Q cd e q f -> state_ok Q cd e k m mw c st -> truths Q cd e F -> tables_ok Q e T ->
  arrives_slots p L T b st F q = true -> standing b f k m mw c.
Proof.
  intros Ok Oks Mq one sign Lo R [M0 Fs _] HF HT A. unfold arrives_slots in A. apply andb_prop in A as [A As].
  assert (Num : Forall (fun v => 0 <= v < p) (slots_of c)).
  { destruct (known st) as [H|]; cbn [fields_ok] in Fs; [|rewrite Fs; constructor].
    destruct Fs as [id [l [-> [Hl Hh]]]]. unfold slots_of. rewrite now_ok. apply Forall_forall. intros v I.
    apply (In_nth _ _ 0) in I as [i [_ <-]]. rewrite <- Mq. apply Hh. }
  assert (Len : length (slots_of c) = length (b_slots b)).
  { destruct (known st) as [H|]; cbn [fields_ok] in Fs.
    - destruct Fs as [id [l [-> [Hl Hh]]]]. unfold slots_of. rewrite now_ok. cbn [cslots]. rewrite Hl.
      apply andb_prop in As as [As _]. apply andb_prop in As as [_ As]. apply Nat.eqb_eq. exact As.
    - rewrite Fs. unfold slots_ok in Oks. apply andb_prop in Oks as [_ Oks]. rewrite As in Oks. cbn in Oks. apply Nat.eqb_eq in Oks. rewrite Oks. reflexivity. }
  assert (G : forall Q' e', modulus Q' = p -> (forall j, (j < base)%positive -> e' j = low j) ->
    (forall n, (n < length (told_of L b f k m (slots_of c)))%nat -> e' (told_value base n) = nth n (told_of L b f k m (slots_of c)) 0) ->
    stands Q' cd L base b e' f k m mw /\ length k = length (b_stack b)).
  { intros Q' e' Mq' Lo' To. assert (M2 : modulus Q = modulus Q') by congruence.
    refine (arrived Q' cd _ _ L base b Ok Q M2 e e' one sign _ f q R k m mw _ _ M0 F HF T HT _ To); try (rewrite Mq'; assumption).
    intros j J. rewrite Lo, Lo' by exact J. reflexivity. }
  pose proof (standing_ok P h cd p_pos p_fits base b Q e T f q k m mw (CheckSlots.base st) F Ok Mq one sign Lo R M0 HF HT A) as [Non [Lk _]].
  split; [|split; [exact Lk | split; [exact Len|]]].
  - unfold told_of in Non |- *. rewrite app_nil_r in Non. apply Forall_app in Non as [N1 N2]. inversion N2; subst.
    apply Forall_app. split; [exact N1|]. constructor; [assumption|]. apply Forall_app. split; [assumption|].
    eapply Forall_impl; [|exact Num]. intros v [V _]. exact V.
  - intros Q' e' Mq' Lo' To. destruct (G Q' e' Mq' Lo' To) as [G1 _]. split; [exact G1|].
    destruct (known st) as [H|]; cbn [fields_ok] in Fs.
    + destruct Fs as [id [l [Ec [Hl Hh]]]]. assert (Sl : slots_of c = l) by (rewrite Ec; unfold slots_of; rewrite now_ok; reflexivity).
      rewrite Sl in *. apply andb_prop in As as [As Fit]. apply andb_prop in As as [As Cn]. apply andb_prop in As as [Wn We].
      apply Nat.eqb_eq in Cn. apply Z.eqb_eq in We. unfold field_of_label. apply negb_true_iff in Wn. rewrite Wn. cbn [fields_ok width].
      exists id, l. split; [rewrite Ec, Mq, Mq', We; reflexivity|]. split; [cbn [CheckSlots.count]; exact Len|].
      intros i. unfold slot at 1. cbn [held]. rewrite slots_at_find. cbn [Nat.leb andb]. rewrite Nat.sub_0_r.
      destruct (Nat.ltb_spec i (length (b_slots b))) as [Li|Li].
      * assert (fits p L T q (SW (slot H i) 0 (p - 1)) (nth i (b_slots b) Any) = true /\ slot_place L base (nth i (b_slots b) Any) = true) as [Fi Pi].
        { unfold slots_ok in Oks. apply andb_prop in Oks as [Oks _]. rewrite forallb_forall in Fit, Oks. split; [|apply Oks, nth_In; exact Li].
          assert (In (nth i (combine (seq 0 (CheckSlots.count H)) (b_slots b)) (O, Any)) (combine (seq 0 (CheckSlots.count H)) (b_slots b))) as I
            by (apply nth_In; rewrite combine_length, seq_length, Cn, Nat.min_id; exact Li).
          rewrite combine_nth in I by (rewrite seq_length; exact Cn). rewrite seq_nth in I by (rewrite Cn; exact Li). exact (Fit _ I). }
        pose proof (Hh i) as [Rv Cv].
        assert (Wi : is_word Q cd e (nth i l 0) (SW (slot H i) 0 (p - 1))).
        { rewrite Mq in Rv. split; [lia|]. split; [lia | exact Cv]. }
        assert (Pb : place_below L base (nth i (b_slots b) Any) = true).
        { destruct (nth i (b_slots b) Any) as [x|j| |]; try exact Pi; [destruct x; try discriminate; exact Pi | reflexivity]. }
        assert (Nw : is_word Q' cd e' (nth i l 0) (word_at p L base (length (b_stack b) + length (b_memory b) + i) (nth i (b_slots b) Any))).
        { rewrite <- Mq'. refine (fits_ok Q' cd _ _ L base b Q _ e e' one _ f q R k m l T HT To _ _ _ _ Wi _ Pb _); try (rewrite Mq'; assumption); try congruence;
            [intros j J; rewrite Lo, Lo' by exact J; reflexivity | ].
          intros _. unfold any, carried. rewrite To.
          2: { unfold told_of. rewrite app_length, map_length. cbn [length]. rewrite !app_length, map_length. lia. }
          unfold told_of. rewrite app_nth2 by (rewrite map_length; lia). rewrite map_length.
          replace (Datatypes.S (length (l_state L)) + (length (b_stack b) + length (b_memory b) + i) - length (l_state L))%nat
            with (Datatypes.S (length (b_stack b) + length (b_memory b) + i)) by lia. cbn [nth].
          rewrite app_nth2 by (rewrite app_length, map_length; lia). rewrite app_length, map_length. f_equal. lia. }
        split; [rewrite Mq', <- Mq; exact Rv|]. unfold slot_at. destruct Nw as [_ Nw].
        destruct (word_at p L base _ _) as [x lo hi|r| |c0|l0 n0|x l0] eqn:Wt; try (destruct (nth i (b_slots b) Any) as [[]| | |]; discriminate).
        -- exact (proj2 Nw).
        -- rewrite Nw. exists 0. cbn [den]. ring.
      * rewrite nth_overflow by lia. split; [rewrite Mq'; lia | apply cong_refl].
    + unfold field_of_label. rewrite As. exact Fs.
Qed.

(* A part that is walked ends as the program does, or comes to a label. *)
Lemma walked_slots_ok b hb more Q T ways pc st g e k m mw c gas x w r extra :
  walked_slots rev P code (names ++ more) b (Q, T, ways) hb (skipn pc code) st = Some g ->
  modulus Q = p -> parses Q = reads -> e 1%positive = 1 -> (forall i off, In (i, off) reads -> e i = cdword cd off) -> (forall i, 0 <= e i) ->
  (forall i o a b, In (i, (o, a, b)) (names ++ more) -> e i = named_value cd e o a b) -> tables_ok Q e T ->
  state_ok Q cd e k m mw c st -> In w ways -> way_of T x = Some w ->
  truths Q cd e (fst w) -> 0 <= b_gas b -> 0 <= extra ->
  way_ending Q cd e w r (fun q => forall k m mw c gas st, state_ok Q cd e k m mw c st -> arrives_slots p L T b st (fst w) q = true ->
    b_gas b + extra <= gas -> FEval rev code cd (State k m mw (Z.to_nat (b_pc b)) gas) c r) ->
  g + extra <= gas -> FEval rev code cd (State k m mw pc gas) c r.
Proof.
  intros H Mq Pq one parsed sign worded HT M0 I Ew Tw A0 X0 End G. unfold walked_slots in H.
  destruct (fwalk _ _ _ _ _ _ _ _ _ _ _ _ _ _) as [[[g1 hs] ns]|] eqn:Wk; [|discriminate]. injection H as ->.
  change (o_modulus P) with p in Wk. rewrite <- Mq in Wk.
  eapply (fwalk_ok Q cd cd_bytes cd_short rev code code_bytes) with (taken := w) (o := r) (e := e) (extra := extra); try exact Wk; try eassumption;
    try (rewrite Mq; assumption); [rewrite Pq; exact parsed|].
  unfold way_ending in End. unfold way_ends. cbv zeta. destruct (snd w) as [|l|c0|q|n l]; try exact End. intros k1 m1 mw1 pc1 c1 gas1 s1 M1 At Ar G1.
  unfold at_label in At. apply andb_prop in At as [At1 At2]. apply Z.ltb_lt in At1. apply Z.eqb_eq in At2. rewrite skipn_length in At1, At2.
  assert (pc1 = Z.to_nat (b_pc b)) as -> by lia. rewrite Mq in Ar. eapply End; eassumption.
Qed.

(* A turn that begins at a label, where its next one ends rightly. *)
Lemma turn_end_slots n b hb to g : label_ok L base b = true -> turn_gas_slots rev P h code base b hb to = Some g -> g <= b_gas b + per -> label_ok L base to = true ->
  slots_ok L base to = true -> forall i f k m c gas, 0 <= i -> i + Z.of_nat (Datatypes.S n) = N -> standing b (with_index L i f) k m (b_mwords b) c ->
  (n <> O -> forall f k m c gas, standing to (with_index L (i + 1) f) k m (b_mwords to) c -> b_gas to + per * Z.of_nat n <= gas ->
    FEval rev code cd (State k m (b_mwords to) (Z.to_nat (b_pc to)) gas) c (end_of (finish (turns p cd L n (i + 1) f)))) ->
  b_gas b + per * Z.of_nat (Datatypes.S n) <= gas ->
  FEval rev code cd (State k m (b_mwords b) (Z.to_nat (b_pc b)) gas) c (end_of (finish (turns p cd L (Datatypes.S n) i f))).
Proof.
  intros Ok H Gb Okt Oks i f k m c gas Hi Hn [Ton [Lk [Ls St]]] Next G. unfold turn_gas_slots in H.
  assert (Gt : 0 <= b_gas to) by (unfold label_ok in Okt; apply andb_prop in Okt as [Lt _]; apply andb_prop in Lt as [_ Lt]; apply Z.leb_le; exact Lt).
  destruct (turn_part P h base b hb) as [[[Q T] ways]|] eqn:Tp; [|discriminate]. unfold turn_part in Tp.
  destruct (words_ascend (top_of_label (o_loop P) base b) (s_words hb)) as [top|] eqn:Wt; [|discriminate].
  apply part_of_loop_ok in Tp as [gm [l [Run [EQ [As [Wy Tab]]]]]].
  set (told := told_of L b (with_index L i f) k m (slots_of c)) in *.
  set (e := part_env p cd reads names base told (s_words hb) (List.rev (done gm))).
  assert (Bb : (base <= top_of_label L base b)%positive) by (unfold top_of_label, any, told_value; lia). change (top_of_label (o_loop P) base b) with (top_of_label L base b) in Wt.
  assert (Lo : forall j, (j < base)%positive -> e j = low j)
    by (intros j J; eapply (part_low p cd reads names base told (s_words hb) (top_of_label L base b) top); eassumption).
  assert (one : e 1%positive = 1) by (eapply (part_one p cd reads names first base); eassumption).
  assert (parsed : forall j off, In (j, off) reads -> e j = cdword cd off) by (intros j off J; eapply (part_parsed p cd reads names first base); eassumption).
  assert (sign : forall j, 0 <= e j) by (intros j; eapply (part_nonneg_ok p cd cd_bytes ltac:(lia) reads names first base); eassumption).
  assert (worded : forall j o a y, In (j, (o, a, y)) (names ++ s_words hb) -> e j = named_value cd e o a y)
    by (intros j o a y J; eapply (part_worded p cd reads names first base); eassumption).
  assert (Hh : Forall (holds p e) (List.rev (done gm))) by (eapply (part_holds p cd reads names base); eassumption).
  destruct (Tab e p_pos one Hh) as [HT Gm]. assert (Mq : modulus Q = p) by (rewrite EQ; reflexivity).
  assert (Pq : parses Q = reads) by (rewrite EQ; reflexivity).
  destruct (St Q e Mq Lo) as [[Sm Sr Sf Si] Sc].
  { intros j J. eapply (part_told p cd reads names base told (s_words hb) (top_of_label L base b) top); try eassumption.
    unfold told, told_of in J. rewrite app_length, map_length in J. cbn [length] in J.
    rewrite !app_length, map_length, Lk, Ls in J. unfold top_of_label, any, told_value, carried, places_of_label. change (o_loop P) with L. lia. }
  rewrite Mq in Sm. cbn [wrds with_index] in Si. unfold set in Si at 1. rewrite Pos.eqb_refl in Si.
  assert (qp : 1 < modulus Q) by (rewrite Mq; exact p_pos). assert (qf : modulus Q < W) by (rewrite Mq; exact p_fits).
  assert (parsed' : forall j off, In (j, off) (parses Q) -> e j = cdword cd off) by (rewrite Pq; exact parsed).
  destruct (turn_ok Q cd cd_bytes cd_short qp e one parsed' sign (names ++ s_words hb) worded L (o_after P) count base (path_of_label L base b)
    (with_index L i f) i N (Made top []) gm l) as [x [I Fx]]; try assumption; [rewrite Mq, Pq; exact Run | apply counted; assumption | lia |].
  rewrite Mq in Fx. destruct (ways_of_in _ _ _ I _ Wy) as [w [Ew Iw]].
  assert (Start : forall r, truths Q cd e (fst w) -> way_ending Q cd e w r (fun q => forall k m mw c gas st, state_ok Q cd e k m mw c st ->
      arrives_slots p L T to st (fst w) q = true -> b_gas to + per * Z.of_nat n <= gas -> FEval rev code cd (State k m mw (Z.to_nat (b_pc to)) gas) c r) ->
    FEval rev code cd (State k m (b_mwords b) (Z.to_nat (b_pc b)) gas) c r).
  { intros r Tw End. eapply walked_slots_ok with (extra := per * Z.of_nat n); [exact H | exact Mq | exact Pq | exact one | exact parsed | exact sign | exact worded | exact HT |
      | exact Iw | exact Ew | exact Tw | exact Gt | nia | exact End | nia].
    split; cbn [state_of_label CheckSlots.base known failures]; [apply Sm | exact Sc | intros c0 []]. }
  cbn [turns]. destruct (mean p cd (l_turn L) (with_index L i f)) as [f1|o].
  - destruct (Z.eqb_spec (i + 1) N) as [E|E]; unfold goes_on in Fx.
    + assert (n = O) as -> by lia. cbn [turns]. unfold SoundLoop.finish. change (o_modulus P) with p. change (o_loop P) with L. rewrite Mq in Fx.
      destruct (way_of_ok _ _ _ _ _ _ _ HT Ew Fx (fun q => forall k m mw c gas st, state_ok Q cd e k m mw c st ->
        arrives_slots p L T to st (fst w) q = true -> b_gas to + per * Z.of_nat 0 <= gas ->
        FEval rev code cd (State k m mw (Z.to_nat (b_pc to)) gas) c (end_of (mean p cd (o_after P) (with_results L (with_state L (l_gives L) f1)))))) as [Tw [o [Eo End]]].
      rewrite Eo in End |- *. apply Start; [exact Tw | exact End].
    + destruct Fx as [q [-> [Rq Tq]]]. injection Ew as <-. cbn [fst snd] in *.
      assert (Tw : truths Q cd e (map (fun f => (lifted T (fst f), snd f)) (facts q))) by (apply truths_lifted; assumption).
      apply Start; [exact Tw|]. unfold way_ending. cbn [fst snd]. intros k1 m1 mw1 c1 gas1 s1 M1 Ar G1.
      assert (mw1 = b_mwords to) as ->.
      { rewrite (ms_mw _ _ _ _ _ _ _ (so_base _ _ _ _ _ _ _ _ M1)). pose proof Ar as Am. unfold arrives_slots, arrives_at in Am.
        repeat (apply andb_prop in Am as [Am _]). apply Z.eqb_eq. exact Am. }
      apply Next; [lia | | exact G1].
      eapply standing_slots_ok; eassumption.
  - unfold SoundLoop.finish. destruct (way_of_ok _ _ _ _ _ _ _ HT Ew Fx (fun q => forall k m mw c gas st, state_ok Q cd e k m mw c st ->
        arrives_slots p L T to st (fst w) q = true -> b_gas to + per * Z.of_nat n <= gas ->
        FEval rev code cd (State k m mw (Z.to_nat (b_pc to)) gas) c o)) as [Tw [o' [Eo End]]]. injection Eo as <-.
    apply Start; [exact Tw | exact End].
Qed.

(* From a label on, with one turn left or more. *)
Lemma turns_end_slots n : forall l b hb r, turns_ok_slots rev P h code base l = true -> l = (b, hb) :: r ->
  forall i f k m c gas, 0 <= i -> i + Z.of_nat (Datatypes.S n) = N -> standing b (with_index L i f) k m (b_mwords b) c ->
  b_gas b + per * Z.of_nat (Datatypes.S n) <= gas ->
  FEval rev code cd (State k m (b_mwords b) (Z.to_nat (b_pc b)) gas) c (end_of (finish (turns p cd L (Datatypes.S n) i f))).
Proof.
  assert (here : forall b hb r, turns_ok_slots rev P h code base ((b, hb) :: r) = true -> label_ok L base b = true /\ slots_ok L base b = true).
  { intros b hb r H. cbn [turns_ok_slots] in H. apply andb_prop in H as [H _]. apply andb_prop in H as [H _]. apply andb_prop in H as [H _].
    apply andb_prop in H. exact H. }
  induction n as [|n IH]; intros l b hb r Ok El i f k m c gas Hi Hn St G; subst l; pose proof (here _ _ _ Ok) as [Lb _]; pose proof Ok as Ok'; cbn [turns_ok_slots] in Ok;
    apply andb_prop in Ok as [Ok Rest]; apply andb_prop in Ok as [_ Tg];
    set (to := match r with (to, _) :: _ => to | [] => b end) in *;
    (assert (exists hto rto, turns_ok_slots rev P h code base ((to, hto) :: rto) = true) as [hto [rto Ot]];
     [destruct r as [|[b1 h1] r]; [exists hb, []; exact Ok' | exists h1, r; exact Rest] |]);
    (destruct (turn_gas_slots rev P h code base b hb to) as [g|] eqn:Tu; [|discriminate]); apply Z.leb_le in Tg;
    apply (turn_end_slots _ b hb to g Lb Tu Tg (proj1 (here _ _ _ Ot)) (proj2 (here _ _ _ Ot)) i f k m c gas Hi Hn St); try exact G.
  - intros C. destruct (C eq_refl).
  - intros _ f1 k1 m1 c1 gas1 St1 G1. apply (IH _ to hto rto Ot eq_refl); [lia | lia | exact St1 | exact G1].
Qed.
End Whole.

(* Code ends as the program means, whatever calldata is, with any gas from g0 on and that of its turns. *)
Theorem check_loop_slots_sound rev P h code g0 : check_loop_slots rev P h code = Some g0 ->
  forall cd, Forall is_byte cd -> Z.of_nat (length cd) < W ->
  forall g, g0 + o_turn_gas h * turns_of P cd <= g -> FEval rev code cd (start g) none (looped_meaning P cd).
Proof.
  unfold check_loop_slots. intros H cd Hcd Len g G. destruct (base_of h) as [base|] eqn:Bs; [|discriminate]. unfold base_of in Bs.
  destruct (parses_ascend 2 (o_reads h)) as [first|] eqn:Ra; [|discriminate].
  destruct (o_labels h) as [|[b hb] r] eqn:Ls; [discriminate|].
  destruct (forallb _ code) eqn:By; [|discriminate]. destruct (Z.odd (o_modulus P)) eqn:Odd; [|discriminate].
  destruct (Z.ltb_spec 1 (o_modulus P)) as [p_pos|]; [|discriminate]. destruct (Z.ltb_spec (o_modulus P) W) as [p_fits|]; [|discriminate].
  destruct (Z.leb_spec 0 (o_turn_gas h)) as [per|]; [|discriminate]. cbn [andb] in H.
  destruct (word_below base (o_count h)) eqn:Cb; [|discriminate]. destruct (single (o_count h)) eqn:Cs; [|discriminate]. cbn [andb] in H.
  destruct (turns_ok_slots rev P h code base ((b, hb) :: r)) eqn:Ok; [|discriminate].
  assert (Hc : Forall is_byte code).
  { apply Forall_forall. intros c I. rewrite forallb_forall in By. specialize (By _ I). unfold between in By.
    apply andb_prop in By as [L1 L2]. apply Z.leb_le in L1, L2. unfold is_byte. lia. }
  assert (label_ok (o_loop P) base b = true /\ slots_ok (o_loop P) base b = true) as [Lb Lbs].
  { cbn [turns_ok_slots] in Ok. apply andb_prop in Ok as [Ok _]. apply andb_prop in Ok as [Ok _]. apply andb_prop in Ok as [Ok _].
    apply andb_prop in Ok. exact Ok. }
  assert (Gb : 0 <= b_gas b) by (unfold label_ok in Lb; apply andb_prop in Lb as [Lb _]; apply andb_prop in Lb as [_ Lb]; apply Z.leb_le; exact Lb).
  unfold before_gas_slots in H. destruct (before_part P h base) as [[[Q T] ways]|] eqn:Bp; [|discriminate]. unfold before_part in Bp.
  apply part_of_loop_ok in Bp as [gm [l [Run [EQ [As [Wy Tab]]]]]].
  set (p := o_modulus P) in *. set (names := s_words (o_first h)) in *. set (reads := o_reads h) in *.
  set (e := part_env p cd reads names base [] [] (List.rev (done gm))).
  assert (Wa : words_ascend base [] = Some base) by reflexivity.
  assert (Lo : forall j, (j < base)%positive -> e j = low cd reads names j)
    by (intros j J; eapply (part_low p cd reads names base [] [] base base); [lia | exact Wa | exact As | exact J]).
  assert (one : e 1%positive = 1) by (eapply (part_one p cd reads names first base Ra Bs [] [] base base); [lia | exact Wa | exact As]).
  assert (parsed : forall j off, In (j, off) reads -> e j = cdword cd off)
    by (intros j off J; eapply (part_parsed p cd reads names first base Ra Bs [] [] base base); [lia | exact Wa | exact As | exact J]).
  assert (sign : forall j, 0 <= e j)
    by (intros j; eapply (part_nonneg_ok p cd Hcd ltac:(lia) reads names first base Bs []); [constructor | exact Wa]).
  assert (worded : forall j o a y, In (j, (o, a, y)) (names ++ []) -> e j = named_value cd e o a y)
    by (intros j o a y J; eapply (part_worded p cd reads names first base Bs [] [] base base); [lia | exact Wa | exact As | exact J]).
  assert (Hh : Forall (holds p e) (List.rev (done gm))) by (eapply (part_holds p cd reads names base [] []); exact As).
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
  assert (Start : forall r extra, 0 <= extra -> truths Q cd e (fst w) -> way_ending Q cd e w r (fun q => forall k m mw c gas st, state_ok Q cd e k m mw c st ->
      arrives_slots p (o_loop P) T b st (fst w) q = true -> b_gas b + extra <= gas -> FEval rev code cd (State k m mw (Z.to_nat (b_pc b)) gas) c r) ->
    g0 + extra <= g -> FEval rev code cd (start g) none r).
  { intros r0 extra X0 Tw End G1. unfold start. rewrite <- (app_nil_r names) in H.
    eapply (walked_slots_ok rev P h code cd Hcd Len Hc p_pos p_fits Odd) with (pc := O) (extra := extra); [exact H | exact Mq | exact Pq | exact one | exact parsed | exact sign | exact worded | exact HT |
      | exact Iw | exact Ew | exact Tw | exact Gb | exact X0 | exact End | exact G1].
    split; cbn [CheckSlots.base known failures]; [apply start_ok | reflexivity | intros c0 []]. }
  unfold looped_meaning, turns_of in *. fold p in G |- *. destruct (mean p cd (o_before P) blank_frame) as [f|o].
  - destruct Fx as [En [Wn Gn]]. rewrite En in G |- *. assert (Nn : 0 <= N) by apply Wn. unfold goes_on in Gn.
    destruct (Z.eqb_spec N 0) as [Z0|NZ].
    + rewrite Z0. change (Z.to_nat 0) with O. cbn [turns]. rewrite Mq in Gn.
      destruct (way_of_ok _ _ _ _ _ _ _ HT Ew Gn (fun q => forall k m mw c gas st, state_ok Q cd e k m mw c st ->
        arrives_slots p (o_loop P) T b st (fst w) q = true -> b_gas b + 0 <= gas ->
        FEval rev code cd (State k m mw (Z.to_nat (b_pc b)) gas) c
          (end_of (mean p cd (o_after P) (with_results (o_loop P) (with_state (o_loop P) (l_first (o_loop P)) f)))))) as [Tw [o [Eo End]]].
      rewrite Eo in End |- *. apply (Start o 0); [lia | exact Tw | exact End | lia].
    + destruct Gn as [q [-> [Rq Tq]]]. injection Ew as <-. cbn [fst snd] in *.
      assert (Tw : truths Q cd e (map (fun f => (lifted T (fst f), snd f)) (facts q))) by (apply truths_lifted; assumption).
      apply (Start _ (o_turn_gas h * N)); [nia | exact Tw | | exact G]. unfold way_ending. cbn [fst snd]. intros k1 m1 mw1 c1 gas1 s1 M1 Ar G1.
      assert (mw1 = b_mwords b) as ->.
      { rewrite (ms_mw _ _ _ _ _ _ _ (so_base _ _ _ _ _ _ _ _ M1)). pose proof Ar as Am. unfold arrives_slots, arrives_at in Am.
        repeat (apply andb_prop in Am as [Am _]). apply Z.eqb_eq. exact Am. }
      destruct (Z.to_nat N) as [|n] eqn:Nz; [lia|].
      assert (cnt : forall Q' e', modulus Q' = p -> (forall j, (j < base)%positive -> e' j = low cd reads names j) -> is_word Q' cd e' N (o_count h)).
      { intros Q' e' M' L'. apply (word_below_ok Q Q') with (e := e) (base := base); [congruence | | exact Cb | exact Wn].
        intros j J. rewrite Lo, L' by exact J. reflexivity. }
      assert (St : standing P h cd base b (with_index (o_loop P) 0 (with_state (o_loop P) (l_first (o_loop P)) f)) k1 m1 (b_mwords b) c1)
        by (eapply standing_slots_ok; eassumption).
      assert (NE : 0 + Z.of_nat (Datatypes.S n) = N) by lia.
      assert (GE : b_gas b + o_turn_gas h * Z.of_nat (Datatypes.S n) <= gas1) by nia.
      pose proof (turns_end_slots rev P h code cd Hcd Len Hc p_pos p_fits Odd per first base Ra Bs N cnt n _ _ _ _ Ok eq_refl 0
        (with_state (o_loop P) (l_first (o_loop P)) f) k1 m1 c1 gas1 ltac:(lia) NE St GE) as K.
      unfold finish in K. fold p in K. destruct (turns p cd (o_loop P) (Datatypes.S n) 0 _); exact K.
  - destruct (way_of_ok _ _ _ _ _ _ _ HT Ew Fx (fun q => forall k m mw c gas st, state_ok Q cd e k m mw c st ->
        arrives_slots p (o_loop P) T b st (fst w) q = true -> b_gas b + 0 <= gas ->
        FEval rev code cd (State k m mw (Z.to_nat (b_pc b)) gas) c o)) as [Tw [o' [Eo End]]]. injection Eo as <-.
    apply (Start o 0); [lia | exact Tw | exact End | lia].
Qed.

Print Assumptions check_loop_slots_sound.
