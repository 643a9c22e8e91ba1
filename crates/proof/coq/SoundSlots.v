(* The checker of code with slots is sound: what it accepts returns what the program means, for all calldata and all gas from a bound on. *)
From Coq Require Import ZArith List Bool Lia FMapPositive.
From Residue Require Import Evm Words Program Check Sums Sound Slots CheckSlots Copies.
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
Hypothesis final_is : forall i, final P cd i = e i.
Hypothesis results_small : forall i, In i (results P) -> 0 <= e i < p.

Notation "a == b" := (cong p a b) (at level 70).
Notation is_word := (is_word P cd e).
Notation mem_ok := (mem_ok P cd e).
Notation tables_ok := (tables_ok P e).
Notation ceval := (ceval P cd e).
Notation match_ok := (match_ok P cd e).

(* ---- memory ---- *)

Lemma parsed_words_ok n : forall from xs, 0 <= from -> parsed_words P from n = Some xs ->
  Forall2 is_word (pieces 32 n (skipn (Z.to_nat from) cd)) xs.
Proof.
  induction n as [|n IH]; intros from xs Hf H; cbn [parsed_words] in H; [injection H as <-; constructor|].
  destruct (find _ (parses P)) as [[i off]|] eqn:F; [|discriminate].
  destruct (parsed_words P (from + 32) n) as [l|] eqn:R; [|discriminate]. injection H as <-.
  apply find_some in F as [I E]. apply Z.eqb_eq in E. subst off. cbn [pieces]. constructor.
  - rewrite cdword_is.
    split; [apply cdword_range; exact cd_bytes|]. symmetry; apply parsed; exact I.
  - rewrite skipn_skipn'. replace (Z.to_nat from + 32)%nat with (Z.to_nat (from + 32)) by lia. apply IH; [lia | exact R].
Qed.

(* ---- slots ---- *)

Definition elem (v : Z) (s : sum) : Prop := 0 <= v < p /\ v == den e s.

Record field_ok (l : list Z) (F : field) : Prop := {
  held_length : length l = count F;
  held_ok : forall i, elem (nth i l 0) (slot F i) }.

Definition fields_ok (f : fields) (F : option field) : Prop :=
  match F with
  | None => f = none
  | Some F => exists id l, f = Fields [(id, Context p (width F) l)] (Some id) /\ field_ok l F
  end.

Lemma slots_read f F is : field_ok f F -> Forall2 elem (map (fun i => nth i f 0) is) (map (slot F) is).
Proof. intros H. induction is; cbn; constructor; [apply H | assumption]. Qed.

Lemma place_ok l F i v s : field_ok l F -> elem v s -> field_ok (upd i v l) (place i s F).
Proof.
  intros [HL HO] Hv. unfold place. destruct (Nat.ltb_spec i (count F)) as [L|L]; split; rewrite ?upd_length; auto.
  - intros j. rewrite nth_upd by lia. unfold slot, key_of. cbn [held]. rewrite find_add.
    destruct (Nat.eqb_spec j i) as [->|N].
    + rewrite Pos.eqb_refl. exact Hv.
    + destruct (Pos.eqb_spec (Pos.of_succ_nat j) (Pos.of_succ_nat i)) as [E|_]; [apply SuccNat2Pos.inj in E; congruence|].
      apply HO.
  - intros j. replace (upd i v l) with l; [apply HO|]. rewrite <- HL in L. clear - L. revert i L.
    induction l as [|y l IH]; intros [|i] L; cbn in *; try reflexivity; [lia|]. f_equal. apply IH. lia.
Qed.

Lemma places_width is ss F : width (places is ss F) = width F.
Proof.
  unfold places. revert F. induction (combine is ss) as [|[i s] l IH]; intros F; [reflexivity|]. cbn [fold_left].
  rewrite IH. unfold place. destruct (Nat.ltb i (count F)); reflexivity.
Qed.

Lemma places_ok is vs ss : Forall2 elem vs ss -> forall l F, field_ok l F -> field_ok (puts is vs l) (places is ss F).
Proof.
  intros H. revert is. induction H as [|v s vs ss Hv _ IH]; intros [|i is] l F HF; try exact HF.
  unfold puts, places. cbn [combine fold_left]. apply (IH is). apply place_ok; assumption.
Qed.

Lemma lane_sum_ok T k a b hs c hs' u v : tables_ok T -> elem u a -> elem v b ->
  lane_sum p T k a b hs = Some (c, hs') -> elem (lane_op k p u v) c.
Proof.
  intros HT [Ru Cu] [Rv Cv] H. destruct k; cbn [lane_sum lane_op] in *.
  - injection H as <- <-. split; [apply Z.mod_pos_bound; lia|]. eapply cong_trans; [apply cong_mod; lia|].
    eapply cong_trans; [apply cong_add; eassumption|]. apply cong_sym, den_sadd; assumption.
  - injection H as <- <-. split; [apply Z.mod_pos_bound; lia|]. eapply cong_trans; [apply cong_mod; lia|].
    eapply cong_trans; [apply cong_sub; eassumption|]. apply cong_sym.
    eapply cong_trans; [apply den_sadd; assumption|]. apply cong_add; [apply cong_refl | apply den_sneg].
  - split; [apply Z.mod_pos_bound; lia|]. eapply cong_trans; [apply cong_mod; lia|].
    eapply cong_trans; [apply cong_mul; eassumption|]. apply cong_sym. eapply product_ok; eassumption.
Qed.

Lemma lane_sums_ok T k us xs : tables_ok T -> Forall2 elem us xs -> forall vs ys hs names new hs' names', Forall2 elem vs ys ->
  lane_sums p T k (combine xs ys) hs names = Some (new, hs', names') ->
  Forall2 elem (map (fun '(a, b) => lane_op k p a b) (combine us vs)) new.
Proof.
  intros HT H. induction H as [|u x us xs Hu _ IH]; intros vs ys hs names new hs' names' Hv E.
  { cbn in E. injection E as <- _ _. constructor. }
  destruct Hv as [|v y vs ys Hv Hvs]; [cbn in E; injection E as <- _ _; constructor|].
  cbn [combine lane_sums] in E. destruct (lane_sum p T k x y hs) as [[c hs1]|] eqn:L; [|discriminate].
  destruct (next_name names) as [f names1]. destruct (renamed p T f c) as [c'|] eqn:N; [|discriminate].
  destruct (lane_sums p T k (combine xs ys) hs1 names1) as [[[new1 hs2] names2]|] eqn:R; [|discriminate].
  injection E as <- _ _. cbn [combine map]. constructor; [|eapply IH; eassumption].
  destruct (lane_sum_ok _ _ _ _ _ _ _ _ _ HT Hu Hv L) as [B C]. split; [exact B|].
  eapply cong_trans; [exact C|]. eapply renamed_ok; eassumption.
Qed.

(* One of these conditions holds, under which the code may fail. *)
Definition refuted (allowed : cond -> bool) (l : list cond) : Prop := exists c, In c l /\ allowed c = true /\ ceval c = true.
Lemma refuted_incl allowed a b : incl a b -> refuted allowed a -> refuted allowed b.
Proof. intros I [c [J H]]. exists c. split; [apply I; exact J | exact H]. Qed.

(* Words that a store takes: elements, or it halts. *)
Lemma elements_ok allowed ws xs : Forall2 is_word ws xs -> forall sums conds, elements p allowed xs = Some (sums, conds) ->
  (forallb (fun v => v <? p) ws = true /\ Forall2 elem ws sums /\ forall c, In c conds -> ceval c = false) \/
  (forallb (fun v => v <? p) ws = false /\ refuted allowed conds).
Proof.
  induction 1 as [|w x ws xs Hw _ IH]; intros sums conds E; cbn [elements] in E.
  { injection E as <- <-. left. repeat split; [constructor | intros c []]. }
  destruct (elements p allowed xs) as [[sums1 conds1]|]; [|discriminate]. specialize (IH _ _ eq_refl). cbn [forallb].
  destruct Hw as [Rw Hw]. destruct x as [s lo hi|i| | | |]; try discriminate.
  - destruct (Z.leb_spec 0 lo); [|discriminate]. destruct (Z.ltb_spec hi p); [|discriminate]. injection E as <- <-.
    destruct Hw as [B C]. rewrite (proj2 (Z.ltb_lt w p)) by lia. cbn [andb].
    destruct IH as [[A [F Cs]]|IH]; [left | right; exact IH]. split; [exact A|]. split; [|exact Cs].
    constructor; [split; [lia | exact C] | exact F].
  - destruct (allowed _) eqn:X; [|discriminate]. injection E as <- <-. subst w.
    destruct (Z.ltb_spec (e i) p) as [L|L]; cbn [andb].
    + destruct IH as [[A [F Cs]]|[A Re]]; [left | right; split; [exact A | eapply refuted_incl; [|exact Re]; apply incl_tl, incl_refl]].
      split; [exact A|]. split.
      * constructor; [|exact F]. split; [lia|]. cbn [den]. exists 0. ring.
      * intros c [<-|I]; [cbn; apply Z.leb_gt; exact L | apply Cs; exact I].
    + right. split; [reflexivity|]. exists (CNotBelow i). split; [left; reflexivity|]. split; [exact X | cbn; apply Z.leb_le; exact L].
Qed.

(* ---- an instruction ---- *)

Record state_ok (k : list Z) (m : memory) (mw : Z) (f : fields) (st : fstate) : Prop := {
  so_base : match_ok k m mw (base st);
  so_fields : fields_ok f (known st);
  so_failures : forall c, In c (failures st) -> ceval c = false }.

Lemma reserved_ok f F : fields_ok f F -> reserved f = kept F.
Proof.
  destruct F as [F|]; cbn [fields_ok kept]; [|intros ->; reflexivity].
  intros [id [l [-> [HL _]]]]. unfold reserved, taken. cbn [contexts fold_left]. unfold size_of. cbn [cbytes cslots].
  rewrite HL, Z.add_0_l. reflexivity.
Qed.

Lemma now_ok id w l : now (Fields [(id, Context p w l)] (Some id)) = Some (Context p w l).
Proof. unfold now, found. cbn. rewrite Z.eqb_refl. reflexivity. Qed.

Lemma put_ok id w l l' :
  put (Context p w l) l' (Fields [(id, Context p w l)] (Some id)) = Fields [(id, Context p w l')] (Some id).
Proof. unfold put. cbn. rewrite Z.eqb_refl. reflexivity. Qed.


Definition goes (i : finstr) (k : list Z) (m : memory) (mw : Z) (f : fields) (cost : Z) (st : fstate) : Prop :=
  exists k' m' mw' f', fexec code cd i k m mw f = (cost, Some (k', m', mw', f')) /\ state_ok k' m' mw' f' st.
(* It halts, and one of the conditions holds that are taken for false after it. *)
Definition fails_right (allowed : cond -> bool) (i : finstr) (k : list Z) (m : memory) (mw : Z) (f : fields) (st st' : fstate) : Prop :=
  (exists c, fexec code cd i k m mw f = (c, None)) /\ exists l, failures st' = l ++ failures st /\ refuted allowed l.

Lemma copied_ok st k r a key from n l ws xs m mw f :
  state_ok k m mw f st -> stack_ok P cd e r xs -> a = 32 * (Z.pos key - 1) -> forall ys, Forall2 is_word ws ys ->
  (forall x, write m a (take (Z.to_nat n) (skipn (Z.to_nat from) l)) x = write m a (flat_map (bytes_of 32) ws) x) ->
  exists m' mw', copied r m mw f l a from n = (fst (copy st xs a key n ys), Some (r, m', mw', f)) /\
    state_ok r m' mw' f (snd (copy st xs a key n ys)).
Proof.
  intros [[Hk Hm Hw] HF HC] Hr -> ys Hy E. unfold copied, copy. rewrite (reserved_ok _ _ HF), Hw.
  cbn [fst snd]. do 2 eexists. split; [reflexivity|]. split; cbn [base known failures]; auto.
  split; cbn [sstack smem Check.smw]; auto. eapply mem_ext; [intros x; symmetry; apply E|]. apply stored_ok; assumption.
Qed.

Lemma numerals_ok vs : Forall (fun v => 0 <= v < W) vs -> Forall2 is_word vs (map (fun v => SW (const p v) v v) vs).
Proof.
  induction 1 as [|v vs Hv _ IH]; cbn [map]; constructor; auto. split; [exact Hv|]. split; [lia|].
  apply cong_sym, den_const; assumption.
Qed.

Lemma calldatacopy_ok allowed st cost st' k m mw f T : state_ok k m mw f st ->
  sfield p code P allowed T CALLDATACOPY st = Some (cost, st') -> goes CALLDATACOPY k m mw f cost st'.
Proof.
  intros HS H. pose proof HS as [[Hk Hm Hw] HF HC]. unfold sfield in H.
  destruct (sstack (base st)) as [|x [|y [|z r]]]; try discriminate.
  destruct (slot_of x) as [[a key]|] eqn:X; [|discriminate]. destruct (exactly y) as [from|] eqn:Y; [|discriminate].
  destruct (exactly z) as [n|] eqn:Zz; [|discriminate]. destruct (whole n) as [c|] eqn:Wh; [|discriminate].
  destruct (Z.leb_spec 0 from); [|discriminate].
  destruct (parsed_words P from c) as [ys|] eqn:Pw; [|discriminate]. cbn [option_map] in H. injection H as <- <-.
  inversion Hk as [|wa ? k1 ? Ha Hk1]; subst. inversion Hk1 as [|wb ? k2 ? Hb Hk2]; subst.
  inversion Hk2 as [|wc ? k3 ? Hc Hk3]; subst.
  destruct (slot_ok _ _ _ _ _ _ _ Ha X) as [-> [_ E]].
  apply (exactly_ok _ _ _ _ _ _ Hb) in Y. apply (exactly_ok _ _ _ _ _ _ Hc) in Zz. subst wb wc.
  destruct (whole_ok _ _ Wh) as [_ N].
  edestruct (copied_ok st _ k3 a key from n cd (pieces 32 c (skipn (Z.to_nat from) cd)) r m _ f HS Hk3 E ys) as [m' [mw' [G S]]].
  - apply parsed_words_ok; assumption.
  - intros x0. rewrite N, chunks_bytes by (apply skipn_Forall; exact cd_bytes). reflexivity.
  - unfold goes. do 4 eexists. split; [cbn [fexec]; rewrite G; reflexivity | exact S].
Qed.

Lemma known_byte_ok m sm x b : mem_ok m sm -> 0 <= x -> known_byte sm x = Some b -> m x = b.
Proof.
  intros Hm X H. unfold known_byte in H. set (q := x / 32) in *.
  assert (0 <= q) by (apply Z.div_pos; lia).
  assert (D : x = 32 * q + x mod 32) by (apply Z.div_mod; lia). pose proof (Z.mod_pos_bound x 32).
  set (key := Z.to_pos (q + 1)) in *. assert (K : 32 * (Z.pos key - 1) = 32 * q) by (unfold key; rewrite Z2Pos.id by lia; lia).
  assert (N : m x = nth (Z.to_nat (x mod 32)) (bytes_of 32 (mload m (32 * q))) 0).
  { rewrite <- mload_bytes by apply Hm. rewrite mbytes_nth by lia. f_equal. lia. }
  rewrite N. destruct (M.find key sm) as [w|] eqn:F.
  - destruct (exactly w) as [v|] eqn:E; [|discriminate]. injection H as <-.
    apply (mem_words _ _ _ _ _ Hm) in F. rewrite K in F. apply (exactly_ok _ _ _ _ _ _ F) in E. rewrite E. reflexivity.
  - injection H as <-. apply (mem_zeros _ _ _ _ _ Hm) in F. rewrite K in F. rewrite F, nth_bytes_of by lia.
    rewrite Z.div_0_l by (apply Z.pow_nonzero; lia). reflexivity.
Qed.

Lemma known_bytes_ok m sm n : mem_ok m sm -> forall x l, 0 <= x -> known_bytes sm x n = Some l -> mbytes m x n = l.
Proof.
  intros Hm. induction n as [|n IH]; intros x l X H; cbn [known_bytes] in H; [injection H as <-; reflexivity|].
  destruct (known_byte sm x) as [b|] eqn:B; [|discriminate].
  destruct (known_bytes sm (x + 1) n) as [l'|] eqn:L; [|discriminate]. injection H as <-. cbn [mbytes].
  rewrite (known_byte_ok _ _ _ _ Hm X B). f_equal. apply IH; [lia | exact L].
Qed.

(* The word that an address within it belongs to. *)
Lemma start_ok a : 0 <= a -> a mod 32 = 0 -> a = 32 * (Z.pos (Z.to_pos (a / 32 + 1)) - 1).
Proof.
  intros A E. pose proof (Z.div_mod a 32 ltac:(lia)). assert (0 <= a / 32) by (apply Z.div_pos; lia).
  rewrite Z2Pos.id by lia. lia.
Qed.

Lemma narrow_ok allowed m sm done a w s conds : mem_ok m sm -> (forall c, In c done -> ceval c = false) -> 0 <= a -> 1 <= w <= 31 ->
  narrow p allowed sm done a w = Some (s, conds) -> let v := beZ (mbytes m a (Z.to_nat w)) in
  (v < p /\ elem v s /\ forall c, In c conds -> ceval c = false) \/ (p <= v /\ refuted allowed conds).
Proof.
  intros Hm Hd A R H v. unfold narrow in H. destruct (known_bytes sm a (Z.to_nat w)) as [l|] eqn:L.
  - apply (known_bytes_ok _ _ _ Hm) in L; [|exact A].
    destruct (Z.ltb_spec (beZ l) p) as [B|]; [|discriminate]. injection H as <- <-. left. unfold v. rewrite L.
    assert (0 <= beZ l) by (rewrite <- L; apply beZ_range, mbytes_bytes, Hm).
    split; [exact B|]. split; [|intros c []]. split; [lia|]. apply cong_sym, den_const; assumption.
  - destruct (Z.leb_spec 0 (a + w - 32)) as [S0|]; [|discriminate].
    destruct (Z.eqb_spec ((a + w - 32) mod 32) 0) as [S1|]; [|discriminate]. cbn [andb] in H.
    destruct (M.find _ sm) as [[| i | | | |]|] eqn:F; try discriminate.
    destruct (existsb _ done) eqn:D; [|discriminate]. destruct (allowed _) eqn:X; [|discriminate].
    cbn [andb] in H. injection H as <- <-. apply (mem_words _ _ _ _ _ Hm) in F. rewrite <- (start_ok _ S0 S1) in F.
    destruct F as [Rw F]. apply existsb_exists in D as [c [I D]]. apply condeqb_ok in D. subst c. apply Hd in I.
    cbn [Sound.ceval] in I. apply Z.leb_gt in I. rewrite Z.pow_mul_r in I by lia. change (2 ^ 8) with 256 in I.
    assert (V : v = e i).
    { unfold v. replace a with (a + w - 32 + (32 - Z.of_nat (Z.to_nat w))) by lia.
      rewrite low_bytes by (try apply Hm; lia). rewrite F, beZ_bytes_of. apply Z.mod_small. rewrite Z2Nat.id by lia. lia. }
    rewrite V. destruct (Z.ltb_spec (e i) p) as [B|B].
    + left. split; [exact B|]. split.
      * split; [lia|]. cbn [den]. exists 0. ring.
      * intros c [<-|[]]. cbn. apply Z.leb_gt; exact B.
    + right. split; [exact B|]. exists (CNotBelow i). split; [left; reflexivity|]. split; [exact X | cbn; apply Z.leb_le; exact B].
Qed.

Lemma narrows_ok allowed m sm done w n : mem_ok m sm -> (forall c, In c done -> ceval c = false) -> 1 <= w <= 31 ->
  forall a sums conds, 0 <= a -> narrows p allowed sm done a w n = Some (sums, conds) ->
  (forallb (fun v => v <? p) (numbers m a w n) = true /\ Forall2 elem (numbers m a w n) sums /\
   forall c, In c conds -> ceval c = false) \/
  (forallb (fun v => v <? p) (numbers m a w n) = false /\ refuted allowed conds).
Proof.
  intros Hm Hd R. induction n as [|n IH]; intros a sums conds A H; cbn [narrows numbers forallb] in *.
  { injection H as <- <-. left. repeat split; [constructor | intros c []]. }
  destruct (narrow p allowed sm done a w) as [[s c]|] eqn:N; [|discriminate].
  destruct (narrows p allowed sm done (a + w) w n) as [[sums1 conds1]|] eqn:Ns; [|discriminate]. injection H as <- <-.
  apply (narrow_ok _ _ _ _ _ _ _ _ Hm Hd A R) in N. cbv zeta in N. apply IH in Ns; [|lia].
  destruct N as [[B [El Cs]]|[B Me]].
  - rewrite (proj2 (Z.ltb_lt _ _) B). cbn [andb]. destruct Ns as [[B' [El' Cs']]|[B' Re]];
      [left | right; split; [exact B' | eapply refuted_incl; [|exact Re]; apply incl_appr, incl_refl]].
    split; [exact B'|]. split; [constructor; assumption|]. intros x I. apply in_app_or in I as [I|I]; auto.
  - right. rewrite (proj2 (Z.ltb_ge _ _) B). split; [reflexivity | eapply refuted_incl; [|exact Me]; apply incl_appl, incl_refl].
Qed.

Lemma filled_up_ok m sm a n l k bytes : mem_ok m sm -> 0 <= a -> 0 <= n -> Forall is_byte l ->
  32 * ((n + 31) / 32) = 32 * Z.of_nat k -> filled_up sm a n l = Some bytes ->
  Forall is_byte bytes /\
  forall x, write m a (take (Z.to_nat n) l) x = write m a (flat_map (bytes_of 32) (pieces 32 k bytes)) x.
Proof.
  intros Hm A N Hl K H. unfold filled_up in H.
  assert (Ht : Forall is_byte (take (Z.to_nat n) l)) by (apply take_bytes; exact Hl).
  assert (all : forall b, Forall is_byte b -> length b = (32 * k)%nat -> flat_map (bytes_of 32) (pieces 32 k b) = b).
  { intros b Hb L. rewrite <- chunks_bytes by exact Hb. rewrite <- L. clear. induction b as [|x b IH]; cbn; congruence. }
  destruct (Z.eqb_spec (n mod 32) 0) as [E|E].
  - injection H as <-. split; [exact Ht|]. intros x. rewrite all; [reflexivity | exact Ht|]. rewrite take_length.
    pose proof (Z.div_mod n 32 ltac:(lia)). assert ((n + 31) / 32 = n / 32); [|lia].
    replace (n + 31) with (n / 32 * 32 + 31) by lia. rewrite Z.div_add_l by lia. change (31 / 32) with 0. lia.
  - destruct (known_bytes sm (a + n) _) as [r|] eqn:R; [|discriminate]. injection H as <-.
    apply (known_bytes_ok _ _ _ Hm) in R; [|lia].
    pose proof (Z.mod_pos_bound n 32 ltac:(lia)). pose proof (Z.div_mod n 32 ltac:(lia)).
    assert (Lr : length r = Z.to_nat (32 - n mod 32)) by (rewrite <- R; apply mbytes_length).
    assert (Hb : Forall is_byte (take (Z.to_nat n) l ++ r)).
    { apply Forall_app. split; [exact Ht|]. rewrite <- R. apply mbytes_bytes, Hm. }
    split; [exact Hb|]. intros x. rewrite all; [|exact Hb|].
    + apply write_more. rewrite take_length, Lr, Z2Nat.id by lia. exact R.
    + rewrite app_length, take_length, Lr.
      assert ((n + 31) / 32 = n / 32 + 1); [|lia].
      replace (n + 31) with ((n / 32 + 1) * 32 + (n mod 32 - 1)) by lia. rewrite Z.div_add_l by lia.
      rewrite (Z.div_small (n mod 32 - 1)) by lia. lia.
Qed.

Lemma codecopy_ok allowed st cost st' k m mw f T : state_ok k m mw f st ->
  sfield p code P allowed T CODECOPY st = Some (cost, st') -> goes CODECOPY k m mw f cost st'.
Proof.
  intros HS H. pose proof HS as [[Hk Hm Hw] HF HC]. unfold sfield in H.
  destruct (sstack (base st)) as [|x [|y [|z r]]]; try discriminate.
  destruct (slot_of x) as [[a key]|] eqn:X; [|discriminate]. destruct (exactly y) as [from|] eqn:Y; [|discriminate].
  destruct (exactly z) as [n|] eqn:Zz; [|discriminate]. destruct (whole _) as [c|] eqn:Wh; [|discriminate].
  destruct (Z.leb_spec 0 n) as [N0|]; [|discriminate]. destruct (from <=? _); [|discriminate]. cbn [andb] in H.
  destruct (filled_up _ a n _) as [bytes|] eqn:Fu; [|discriminate]. injection H as <- <-.
  inversion Hk as [|wa ? k1 ? Ha Hk1]; subst. inversion Hk1 as [|wb ? k2 ? Hb Hk2]; subst.
  inversion Hk2 as [|wc ? k3 ? Hc Hk3]; subst.
  destruct (slot_ok _ _ _ _ _ _ _ Ha X) as [-> [A0 E]].
  apply (exactly_ok _ _ _ _ _ _ Hb) in Y. apply (exactly_ok _ _ _ _ _ _ Hc) in Zz. subst wb wc.
  destruct (whole_ok _ _ Wh) as [Wn _].
  destruct (filled_up_ok _ _ _ _ _ _ _ Hm A0 N0 (skipn_Forall _ (Z.to_nat from) _ code_bytes) Wn Fu) as [Hb' Wr].
  edestruct (copied_ok st _ k3 a key from n code (pieces 32 c bytes) r m _ f HS Hk3 E
    (map (fun v => SW (const p v) v v) (pieces 32 c bytes))) as [m' [mw' [G S]]].
  - apply numerals_ok, chunks_range; exact Hb'.
  - exact Wr.
  - unfold goes. do 4 eexists. split; [cbn [fexec]; rewrite G; reflexivity | exact S].
Qed.

Lemma lanes_ok allowed kind imm st cost st' k m mw f T : tables_ok T -> state_ok k m mw f st ->
  sfield p code P allowed T (LANES kind imm) st = Some (cost, st') -> goes (LANES kind imm) k m mw f cost st'.
Proof.
  intros HT HS H. pose proof HS as [[Hk Hm Hw] HF HC]. unfold sfield in H.
  destruct imm as [|o [|os [|x [|xs [|y [|ys [|n [|z imm]]]]]]]]; try discriminate.
  destruct (known st) as [F|] eqn:K; [|discriminate]. cbn [fields_ok] in HF. destruct HF as [id [l [-> HL]]].
  destruct (1 <=? os) eqn:B1; [|discriminate]. destruct (1 <=? n) eqn:B2; [|discriminate].
  destruct (o + os * (n - 1) <? Z.of_nat (count F)) eqn:B3; [|discriminate].
  destruct (x + xs * (n - 1) <? Z.of_nat (count F)) eqn:B4; [|discriminate].
  destruct (y + ys * (n - 1) <? Z.of_nat (count F)) eqn:B5; [|discriminate]. cbn [andb] in H.
  destruct (lane_sums p T kind _ (hints (base st)) (fnames st)) as [[[new hs] names]|] eqn:L; [|discriminate].
  injection H as <- <-. unfold goes. do 4 eexists. split.
  - cbn [fexec]. unfold lanes. rewrite now_ok. cbn [cmodulus cbytes cslots]. rewrite (held_length _ _ HL), B1, B2, B3, B4, B5.
    cbn [andb fst snd option_map]. rewrite put_ok. reflexivity.
  - split; cbn [base known failures]; auto; [split; cbn [sstack smem Check.smw]; auto|].
    cbn [fields_ok]. rewrite places_width. do 2 eexists. split; [reflexivity|]. apply places_ok; [|exact HL].
    eapply lane_sums_ok; [exact HT | apply slots_read; exact HL | apply slots_read; exact HL | exact L].
Qed.

Lemma words_bytes padded F l : by_words padded F = true ->
  value_bytes padded (Context p (width F) l) = 32 /\ (width F <=? 32) = true.
Proof.
  unfold by_words, value_bytes. cbn [cbytes]. destruct padded as [s|].
  - intros H. apply andb_prop in H as [H B]. apply Z.eqb_eq in H. auto.
  - intros H. apply Z.eqb_eq in H. rewrite H. auto.
Qed.

Lemma has_ok F first n : has F first n = true -> 1 <= n /\ (n =? 0) = false /\ (first + n <=? Z.of_nat (count F)) = true.
Proof.
  unfold has. intros H. apply andb_prop in H as [H B]. apply Z.leb_le in H. split; [exact H|]. split; [apply Z.eqb_neq; lia | exact B].
Qed.

(* Slots that have taken elements. *)
Lemma filled_ok st k r xs F id l first n vs sums conds cost st' m mw :
  state_ok k m mw (Fields [(id, Context p (width F) l)] (Some id)) st -> stack_ok P cd e r xs ->
  field_ok l F -> Forall2 elem vs sums -> (forall c, In c conds -> ceval c = false) ->
  stored_slots p st xs F first n sums conds = Some (cost, st') ->
  forall bytes, cost = transfer_price (Context p (width F) l) n bytes /\
  state_ok r m mw (Fields [(id, Context p (width F) (puts (span first n) vs l))] (Some id)) st'.
Proof.
  intros [[Hk Hm Hw] HF HC] Hr HL Fe Cs H bytes. unfold stored_slots in H. injection H as <- <-. split.
  - unfold transfer_price. cbn [cmodulus]. rewrite p_odd. reflexivity.
  - split; cbn [base known failures]; [split; cbn [sstack smem Check.smw]; auto | |].
    + cbn [fields_ok]. rewrite places_width. do 2 eexists. split; [reflexivity|]. apply places_ok; [exact Fe | exact HL].
    + intros c I. apply in_app_or in I as [I|I]; auto.
Qed.

Lemma storex_ok allowed padded st cost st' k m mw f T : state_ok k m mw f st ->
  sfield p code P allowed T (STOREX padded) st = Some (cost, st') ->
  goes (STOREX padded) k m mw f cost st' \/ fails_right allowed (STOREX padded) k m mw f st st'.
Proof.
  intros HS H. pose proof HS as [[Hk Hm Hw] HF HC]. unfold sfield in H.
  destruct (sstack (base st)) as [|x [|y [|z r]]]; try discriminate. destruct (known st) as [F|] eqn:K; [|discriminate].
  cbn [fields_ok] in HF. destruct HF as [id [l [-> HL]]].
  destruct (exactly x) as [first|] eqn:X; [|discriminate]. destruct (exactly y) as [a|] eqn:Y; [|discriminate].
  destruct (exactly z) as [n|] eqn:Zz; [|discriminate].
  inversion Hk as [|wa ? k1 ? Ha Hk1]; subst. inversion Hk1 as [|wb ? k2 ? Hb Hk2]; subst.
  inversion Hk2 as [|wc ? k3 ? Hc Hk3]; subst.
  apply (exactly_ok _ _ _ _ _ _ Ha) in X. apply (exactly_ok _ _ _ _ _ _ Hc) in Zz.
  apply (exactly_ok _ _ _ _ _ _ Hb) in Y. subst wa wb wc.
  (* What is stored, of values of so many bytes. *)
  assert (ends : forall s ws sums conds, value_bytes padded (Context p (width F) l) = s -> (width F <=? s) = true ->
    has F first n = true -> inside (smw (base st)) a (n * s) = true -> numbers m a s (Z.to_nat n) = ws ->
    (forallb (fun v => v <? p) ws = true /\ Forall2 elem ws sums /\ forall c, In c conds -> ceval c = false) \/
    (forallb (fun v => v <? p) ws = false /\ refuted allowed conds) ->
    stored_slots p st r F first n sums conds = Some (cost, st') ->
    goes (STOREX padded) (first :: a :: n :: k3) m (smw (base st)) (Fields [(id, Context p (width F) l)] (Some id)) cost st' \/
    fails_right allowed (STOREX padded) (first :: a :: n :: k3) m (smw (base st)) (Fields [(id, Context p (width F) l)] (Some id)) st st').
  { clear H. intros s ws sums conds V W32 B1 B2 Nu Q H. destruct (has_ok _ _ _ B1) as [N1 [N0 B3]].
    destruct Q as [[A [Fe Cs]]|[A Me]]; [left | right].
    - destruct (filled_ok _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ HS Hk3 HL Fe Cs H (n * s)) as [-> S'].
      unfold goes. do 4 eexists. split; [|exact S'].
      cbn [fexec]. unfold transfer. rewrite now_ok, V, N0. cbn [cmodulus cbytes cslots].
      rewrite (held_length _ _ HL), W32, B3, B2. cbn [andb]. rewrite Nu. unfold filled. cbn [cmodulus cslots].
      rewrite A, put_ok. reflexivity.
    - split; [|exists conds; split; [unfold stored_slots in H; injection H as _ <-; reflexivity | exact Me]]. eexists.
      cbn [fexec]. unfold transfer. rewrite now_ok, V, N0. cbn [cmodulus cbytes cslots].
      rewrite (held_length _ _ HL), W32, B3, B2. cbn [andb]. rewrite Nu. unfold filled. cbn [cmodulus cslots].
      rewrite A. reflexivity. }
  destruct (by_words padded F) eqn:B0.
  - destruct (slot_of y) as [[a' key]|] eqn:Sl; [|discriminate]. destruct (slot_ok _ _ _ _ _ _ _ Hb Sl) as [<- [_ E]].
    destruct (has F first n) eqn:B1; [|discriminate]. destruct (inside (smw (base st)) a (n * 32)) eqn:B2; [|discriminate].
    cbn [andb] in H. destruct (elements p allowed _) as [[sums conds]|] eqn:El; [|discriminate].
    pose proof (loaded_ok P cd e m (smem (base st)) (Z.to_nat n) Hm key) as Ld. rewrite <- E in Ld.
    destruct (words_bytes _ _ l B0) as [V W32].
    exact (ends _ _ _ _ V W32 eq_refl B2 eq_refl (elements_ok _ _ _ Ld _ _ El) H).
  - destruct padded; [discriminate|]. destruct (has F first n) eqn:B1; [|discriminate].
    destruct (inside (smw (base st)) a (n * width F)) eqn:B2; [|discriminate].
    destruct (Z.leb_spec 0 a) as [A0|]; [|discriminate]. destruct (between 1 (width F) 31) eqn:B3; [|discriminate].
    cbn [andb] in H. destruct (narrows p allowed _ _ _ _ _) as [[sums conds]|] eqn:El; [|discriminate].
    unfold between in B3. apply andb_prop in B3 as [L1 L2]. apply Z.leb_le in L1, L2.
    exact (ends _ _ _ _ eq_refl (Z.leb_refl _) eq_refl B2 eq_refl
      (narrows_ok _ _ _ _ _ _ Hm HC (conj L1 L2) _ _ _ A0 El) H).
Qed.

Lemma pieces_range size n l : Forall is_byte l -> Forall (fun v => 0 <= v) (pieces size n l).
Proof.
  revert l; induction n as [|n IH]; intros l H; cbn [pieces]; constructor; [|apply IH, skipn_Forall; exact H].
  apply beZ_range, take_bytes; exact H.
Qed.

Lemma constants_ok vs : Forall (fun v => 0 <= v) vs -> forallb (fun v => v <? p) vs = true -> Forall2 elem vs (map (const p) vs).
Proof.
  induction 1 as [|v vs Hv _ IH]; cbn [map forallb]; intros A; constructor.
  - apply andb_prop in A as [A _]. apply Z.ltb_lt in A. split; [lia|]. apply cong_sym, den_const; assumption.
  - apply IH. apply andb_prop in A as [_ A]. exact A.
Qed.

Lemma storecx_ok allowed st cost st' k m mw f T : state_ok k m mw f st ->
  sfield p code P allowed T STORECX st = Some (cost, st') -> goes STORECX k m mw f cost st'.
Proof.
  intros HS H. pose proof HS as [[Hk Hm Hw] HF HC]. unfold sfield in H.
  destruct (sstack (base st)) as [|x [|y [|z r]]]; try discriminate. destruct (known st) as [F|] eqn:K; [|discriminate].
  cbn [fields_ok] in HF. destruct HF as [id [l [-> HL]]].
  destruct (exactly x) as [first|] eqn:X; [|discriminate]. destruct (exactly y) as [a|] eqn:Y; [|discriminate].
  destruct (exactly z) as [n|] eqn:Zz; [|discriminate].
  destruct (has F first n) eqn:B1; [|discriminate]. destruct (Z.leb_spec 0 a); [|discriminate].
  destruct (a + n * width F <=? Z.of_nat (length code)) eqn:B2; [|discriminate]. cbn [andb] in H.
  destruct (forallb _ (pieces _ _ _)) eqn:A; [|discriminate].
  inversion Hk as [|wa ? k1 ? Ha Hk1]; subst. inversion Hk1 as [|wb ? k2 ? Hb Hk2]; subst.
  inversion Hk2 as [|wc ? k3 ? Hc Hk3]; subst.
  apply (exactly_ok _ _ _ _ _ _ Ha) in X. apply (exactly_ok _ _ _ _ _ _ Hb) in Y.
  apply (exactly_ok _ _ _ _ _ _ Hc) in Zz. subst wa wb wc.
  destruct (has_ok _ _ _ B1) as [N1 [N0 B3]].
  pose proof (constants_ok _ (pieces_range (Z.to_nat (width F)) (Z.to_nat n) _ (skipn_Forall _ (Z.to_nat a) _ code_bytes)) A) as Fe.
  destruct (filled_ok _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ HS Hk3 HL Fe (fun c (I : In c []) => match I with end) H (n * width F))
    as [-> S'].
  unfold goes. do 4 eexists. split; [|exact S'].
  cbn [fexec]. unfold transfer. rewrite now_ok, N0. cbn [cmodulus cbytes cslots].
  rewrite (held_length _ _ HL), Z.leb_refl, B3, B2. cbn [andb]. unfold filled. cbn [cmodulus cslots]. rewrite A, put_ok. reflexivity.
Qed.

Lemma loadx_ok allowed padded st cost st' k m mw f T : state_ok k m mw f st ->
  sfield p code P allowed T (LOADX padded) st = Some (cost, st') -> goes (LOADX padded) k m mw f cost st'.
Proof.
  intros HS H. pose proof HS as [[Hk Hm Hw] HF HC]. unfold sfield in H.
  destruct (sstack (base st)) as [|x [|y [|z r]]]; try discriminate. destruct (known st) as [F|] eqn:K; [|discriminate].
  cbn [fields_ok] in HF. destruct HF as [id [l [-> HL]]].
  destruct (exactly x) as [a|] eqn:X; [|discriminate]. destruct (exactly y) as [first|] eqn:Y; [|discriminate].
  destruct (exactly z) as [n|] eqn:Zz; [|discriminate].
  inversion Hk as [|wa ? k1 ? Ha Hk1]; subst. inversion Hk1 as [|wb ? k2 ? Hb Hk2]; subst.
  inversion Hk2 as [|wc ? k3 ? Hc Hk3]; subst.
  apply (exactly_ok _ _ _ _ _ _ Ha) in X. apply (exactly_ok _ _ _ _ _ _ Hb) in Y.
  apply (exactly_ok _ _ _ _ _ _ Hc) in Zz. subst wa wb wc.
  assert (word : forall i, is_word (nth i l 0) (SW (slot F i) 0 (p - 1))).
  { intros i. destruct (held_ok _ _ HL i) as [B C]. split; [lia|]. split; [lia | exact C]. }
  destruct (by_words padded F) eqn:B0.
  - destruct (slot_of x) as [[a' key]|] eqn:Sl; [|discriminate]. destruct (slot_ok _ _ _ _ _ _ _ Ha Sl) as [<- [_ E]].
    destruct (has F first n) eqn:B1; [|discriminate]. destruct (inside (smw (base st)) a (n * 32)) eqn:B2; [|discriminate].
    cbn [andb] in H. injection H as <- <-.
    destruct (words_bytes _ _ l B0) as [V W32]. destruct (has_ok _ _ _ B1) as [N1 [N0 B3]].
    unfold goes. do 4 eexists. split.
    + cbn [fexec]. unfold transfer. rewrite now_ok, V, N0. cbn [cmodulus cbytes cslots].
      rewrite (held_length _ _ HL), W32, B3, B2. cbn [andb].
      unfold transfer_price. cbn [cmodulus]. rewrite p_odd. reflexivity.
    + split; cbn [base known failures]; auto.
      * split; cbn [sstack smem Check.smw]; auto. rewrite E. change (Z.to_nat 32) with 32%nat. apply stored_ok; [|exact Hm].
        induction (span first n) as [|i is IH]; cbn [map]; constructor; [apply word | exact IH].
      * cbn [fields_ok]. do 2 eexists. split; [reflexivity | exact HL].
  - destruct padded; [discriminate|]. destruct (known_bytes _ _ 32) as [z0|] eqn:Kb; [|discriminate].
    destruct (has F first n) eqn:B1; [|discriminate]. destruct (Z.eqb_spec n 1) as [->|]; [|discriminate].
    destruct (inside (smw (base st)) a (1 * width F)) eqn:B2; [|discriminate].
    destruct (Z.leb_spec 0 (a + width F - 32)) as [S0|]; [|discriminate].
    destruct (Z.eqb_spec ((a + width F - 32) mod 32) 0) as [S1|]; [|discriminate].
    destruct (between 1 (width F) 31) eqn:B4; [|discriminate]. destruct (Z.eqb_spec (beZ z0) 0) as [Ze|]; [|discriminate].
    destruct (Z.leb_spec p (256 ^ width F)) as [Pw|]; [|discriminate]. cbn [andb] in H. injection H as <- <-.
    unfold between in B4. apply andb_prop in B4 as [L1 L2]. apply Z.leb_le in L1, L2.
    destruct (has_ok _ _ _ B1) as [N1 [N0 B3]]. apply (known_bytes_ok _ _ _ Hm) in Kb; [|exact S0].
    assert (Zero : mload m (a + width F - 32) = 0) by (unfold mload; rewrite Kb; exact Ze).
    unfold goes. do 4 eexists. split.
    + cbn [fexec]. unfold transfer. rewrite now_ok, N0. cbn [value_bytes cmodulus cbytes cslots].
      rewrite (held_length _ _ HL), Z.leb_refl, B3, B2. cbn [andb].
      unfold transfer_price. cbn [cmodulus]. rewrite p_odd. reflexivity.
    + split; cbn [base known failures]; auto.
      * split; cbn [sstack smem Check.smw]; auto. unfold span. change (Z.to_nat 1) with 1%nat. cbn [seq map flat_map].
        destruct (held_ok _ _ HL (Z.to_nat first)) as [Bv _].
        eapply mem_ext; [|eapply mem_stored; [exact Hm | apply (word (Z.to_nat first))]].
        intros x0. rewrite <- (start_ok _ S0 S1). symmetry.
        replace a with (a + width F - 32 + (32 - Z.of_nat (Z.to_nat (width F)))) at 1 by lia.
        apply write_narrow; [apply Hm | exact Zero | lia | rewrite Z2Nat.id by lia; lia].
      * cbn [fields_ok]. do 2 eexists. split; [reflexivity | exact HL].
Qed.

(* A context that has been made, of the program's modulus. *)
Lemma opened_ok bytes st k r xs id size n w m mw cost st' : state_ok k m mw none st -> stack_ok P cd e r xs ->
  between 1 size 96 = true -> between 1 n 256 = true -> w = 8 * ((size + 7) / 8) -> (w * n <=? 24576) = true ->
  (3 <=? p) = true -> beZ (bytes (Z.to_nat size)) = p -> opened_slots p st xs w n = Some (cost, st') ->
  exists g, opened bytes true mw none id size n = (cost, Some g) /\ state_ok r m mw g st'.
Proof.
  intros [[Hk Hm Hw] HF HC] Hr B1 B2 -> B3 B4 E H. set (w := 8 * ((size + 7) / 8)) in *.
  unfold opened_slots in H. injection H as <- <-. set (new := Field (Z.to_nat n) w (M.empty sum)).
  assert (N : 1 <= n <= 256).
  { unfold between in B2. apply andb_prop in B2 as [L1 L2]. apply Z.leb_le in L1, L2. lia. }
  set (g := Fields [(id, Context p w (repeat 0 (Z.to_nat n)))] (Some id)).
  assert (HN : fields_ok g (Some new)).
  { cbn [fields_ok]. do 2 eexists. split; [reflexivity|]. split; [apply repeat_length|]. intros i.
    unfold slot. cbn [held new]. rewrite PositiveMap.gempty.
    replace (nth i (repeat 0 (Z.to_nat n)) 0) with 0; [split; [lia | apply cong_refl]|].
    symmetry. generalize (Z.to_nat n). intros c. revert i. induction c as [|c IH]; intros [|i]; cbn; auto. }
  pose proof (reserved_ok _ _ HN) as RN.
  assert (TK : (taken g <=? 24576) = true).
  { unfold taken, g. cbn [contexts fold_left]. unfold size_of. cbn [cbytes cslots]. rewrite repeat_length, Z2Nat.id by lia.
    exact B3. }
  exists g. split.
  - unfold opened. rewrite B1, B2, E. fold w. change (contexts none) with (@nil (Z * context)). fold g. rewrite TK, RN, B4, p_odd.
    cbn [andb orb]. unfold growth. change (reserved none) with 0. rewrite !Z.add_0_r, Hw.
    change (set_price (Context p w (repeat 0 (Z.to_nat n)))) with (set_price (priced p w)). reflexivity.
  - split; cbn [base known failures]; auto. split; cbn [sstack smem Check.smw]; auto.
Qed.

Lemma setmodx_ok allowed st cost st' k m mw f T : state_ok k m mw f st ->
  sfield p code P allowed T SETMODX st = Some (cost, st') -> goes SETMODX k m mw f cost st'.
Proof.
  intros HS H. pose proof HS as [[Hk Hm Hw] HF HC]. unfold sfield in H.
  destruct (sstack (base st)) as [|x [|y [|z [|u r]]]]; try discriminate. destruct (known st) as [F|] eqn:K; [discriminate|].
  cbn [fields_ok] in HF. subst f.
  destruct (exactly x) as [id|] eqn:X; [|discriminate]. destruct (exactly y) as [a|] eqn:Y; [|discriminate].
  destruct (exactly z) as [size|] eqn:Zz; [|discriminate]. destruct (exactly u) as [n|] eqn:U; [|discriminate].
  destruct (between 0 id 256) eqn:B1; [|discriminate]. destruct (between 1 size 96) eqn:B2; [|discriminate].
  destruct (between 1 n 256) eqn:B3; [|discriminate]. destruct (_ * n <=? 24576) eqn:B4; [|discriminate].
  destruct (Z.leb_spec 0 a) as [A0|]; [|discriminate]. destruct (inside (smw (base st)) a size) eqn:B5; [|discriminate].
  destruct (3 <=? p) eqn:B6; [|discriminate]. cbn [andb] in H.
  destruct (known_bytes _ a _) as [l|] eqn:Kb; [|discriminate]. destruct (Z.eqb_spec (beZ l) p) as [Q|]; [|discriminate].
  inversion Hk as [|wa ? k1 ? Ha Hk1]; subst. inversion Hk1 as [|wb ? k2 ? Hb Hk2]; subst.
  inversion Hk2 as [|wc ? k3 ? Hc Hk3]; subst. inversion Hk3 as [|wd ? k4 ? Hd Hk4]; subst.
  apply (exactly_ok _ _ _ _ _ _ Ha) in X. apply (exactly_ok _ _ _ _ _ _ Hb) in Y.
  apply (exactly_ok _ _ _ _ _ _ Hc) in Zz. apply (exactly_ok _ _ _ _ _ _ Hd) in U. subst wa wb wc wd.
  apply (known_bytes_ok _ _ _ Hm) in Kb; [|exact A0].
  destruct (opened_ok (mbytes m a) st _ k4 r id size n (8 * ((size + 7) / 8)) m (smw (base st)) cost st' HS Hk4)
    as [g [O S']]; [exact B2 | exact B3 | reflexivity | exact B4 | exact B6 | rewrite Kb; exact Q | exact H |].
  unfold goes. do 4 eexists. split; [|exact S']. cbn [fexec]. unfold set_context. rewrite B1.
  change (found id (contexts none)) with (@None context). cbv iota. rewrite B5, O. reflexivity.
Qed.

Lemma setmodcx_ok allowed st cost st' k m mw f T : state_ok k m mw f st ->
  sfield p code P allowed T SETMODCX st = Some (cost, st') -> goes SETMODCX k m mw f cost st'.
Proof.
  intros HS H. pose proof HS as [[Hk Hm Hw] HF HC]. unfold sfield in H.
  destruct (sstack (base st)) as [|x [|y [|z [|u r]]]]; try discriminate. destruct (known st) as [F|] eqn:K; [discriminate|].
  cbn [fields_ok] in HF. subst f.
  destruct (exactly x) as [id|] eqn:X; [|discriminate]. destruct (exactly y) as [a|] eqn:Y; [|discriminate].
  destruct (exactly z) as [size|] eqn:Zz; [|discriminate]. destruct (exactly u) as [n|] eqn:U; [|discriminate].
  destruct (between 0 id 256) eqn:B1; [|discriminate]. destruct (between 1 size 96) eqn:B2; [|discriminate].
  destruct (between 1 n 256) eqn:B3; [|discriminate]. destruct (_ * n <=? 24576) eqn:B4; [|discriminate].
  destruct (0 <=? a); [|discriminate]. destruct (a + size <=? Z.of_nat (length code)) eqn:B5; [|discriminate].
  destruct (3 <=? p) eqn:B6; [|discriminate]. cbn [andb] in H.
  destruct (Z.eqb_spec (beZ (take (Z.to_nat size) (skipn (Z.to_nat a) code))) p) as [Q|]; [|discriminate].
  inversion Hk as [|wa ? k1 ? Ha Hk1]; subst. inversion Hk1 as [|wb ? k2 ? Hb Hk2]; subst.
  inversion Hk2 as [|wc ? k3 ? Hc Hk3]; subst. inversion Hk3 as [|wd ? k4 ? Hd Hk4]; subst.
  apply (exactly_ok _ _ _ _ _ _ Ha) in X. apply (exactly_ok _ _ _ _ _ _ Hb) in Y.
  apply (exactly_ok _ _ _ _ _ _ Hc) in Zz. apply (exactly_ok _ _ _ _ _ _ Hd) in U. subst wa wb wc wd.
  destruct (opened_ok (fun c => take c (skipn (Z.to_nat a) code)) st _ k4 r id size n (8 * ((size + 7) / 8)) m (smw (base st)) cost st'
    HS Hk4)
    as [g [O S']]; [exact B2 | exact B3 | reflexivity | exact B4 | exact B6 | exact Q | exact H |].
  unfold goes. do 4 eexists. split; [|exact S']. cbn [fexec]. unfold set_context. rewrite B1.
  change (found id (contexts none)) with (@None context). cbv iota zeta. rewrite B5, O. reflexivity.
Qed.

Lemma iszerox_ok allowed i st cost st' k m mw f T : state_ok k m mw f st ->
  sfield p code P allowed T (ISZEROX i) st = Some (cost, st') -> goes (ISZEROX i) k m mw f cost st'.
Proof.
  intros HS H. pose proof HS as [[Hk Hm Hw] HF HC]. unfold sfield in H. cbv zeta in H.
  destruct (known st) as [F|] eqn:Kn; [|destruct (sstack (base st)); discriminate]. destruct HF as [id [l [-> [Hl Hh]]]].
  assert (E : (if (0 <=? i) && (i <? Z.of_nat (count F)) then
      Some (3, FS (S (SB (CZero (slot F (Z.to_nat i))) :: sstack (base st)) (smem (base st)) (smw (base st)) (hints (base st))) (Some F) (failures st) (fnames st))
    else None) = Some (cost, st')) by (destruct (sstack (base st)); exact H). clear H.
  destruct (Z.leb_spec 0 i); [|discriminate]. destruct (Z.ltb_spec i (Z.of_nat (count F))) as [L|]; [|discriminate]. cbn [andb] in E. injection E as <- <-.
  unfold goes. do 4 eexists. split.
  - cbn [fexec]. rewrite now_ok. cbn [cslots]. rewrite Hl, (proj2 (Z.ltb_lt _ _) L). reflexivity.
  - split; cbn [base known failures]; [|exists id, l; split; [reflexivity | split; assumption] | exact HC].
    split; cbn [sstack smem Check.smw]; [|exact Hm | exact Hw]. constructor; [|exact Hk].
    pose proof (Hh (Z.to_nat i)) as [R [q C]].
    replace (nth (Z.to_nat i) l 0 =? 0) with (ceval (CZero (slot F (Z.to_nat i)))); [apply truth_word|].
    cbn [Sound.ceval]. fold p. f_equal. rewrite <- (Z.mod_small (nth (Z.to_nat i) l 0) p R), C, Z_mod_plus_full. reflexivity.
Qed.

Lemma sfield_ok allowed T i st cost st' k m mw f : tables_ok T -> state_ok k m mw f st ->
  sfield p code P allowed T i st = Some (cost, st') -> goes i k m mw f cost st' \/ fails_right allowed i k m mw f st st'.
Proof.
  intros HT HS H. destruct i.
  - left. eapply setmodx_ok; eassumption.
  - left. eapply loadx_ok; eassumption.
  - eapply storex_ok; eassumption.
  - left. eapply setmodcx_ok; eassumption.
  - left. eapply storecx_ok; eassumption.
  - left. eapply lanes_ok; eassumption.
  - left. eapply calldatacopy_ok; eassumption.
  - left. eapply codecopy_ok; eassumption.
  - left. eapply iszerox_ok; eassumption.
  - cbn in H. destruct (sstack (base st)); discriminate.
Qed.

Let jumps := blank next O O code.

Lemma splain_ok T i st cost st' k m mw f after : tables_ok T -> state_ok k m mw f st ->
  splain p P T i st = Some (cost, st') ->
  exists c k' m' mw', exec jumps cd i after k m mw = (c, Go k' m' mw' after) /\
    cost = c + beside (reserved f) mw mw' /\ state_ok k' m' mw' f st'.
Proof.
  intros HT [HB HF HC] H. unfold splain in H. destruct (sinstr p T (parses P) i (base st)) as [[c s1]|] eqn:X; [|discriminate].
  match type of H with (let '(_, _) := ?x in _) = _ => destruct x as [nm names'] end.
  destruct (named p T nm s1) as [s'|] eqn:N; [|discriminate]. injection H as <- <-.
  destruct (sinstr_ok P cd cd_bytes cd_short jumps p_pos e one parsed T i (base st) c s1 k m mw after HT HB X)
    as [k' [m' [mw' [E HM1]]]].
  pose proof (named_ok P cd e T _ _ _ _ _ _ HT HM1 N) as HM'.
  exists c, k', m', mw'. split; [exact E|]. split.
  - rewrite (reserved_ok _ _ HF), (ms_mw _ _ _ _ _ _ _ HB), (ms_mw _ _ _ _ _ _ _ HM'). reflexivity.
  - split; cbn [base known failures]; auto.
Qed.

Lemma fails_at_ok d k m mw f g : fails_at code jumps d = true -> Z.of_nat (length k) <= 1024 ->
  FEval next code cd (State k m mw (Z.to_nat d) g) f Failed.
Proof.
  intros H L. unfold fails_at in H. apply andb_prop in H as [_ H].
  destruct (skipn (Z.to_nat d) code) as [|a [|b l]] eqn:E; try discriminate. apply andb_prop in H as [Ha Hb].
  apply Z.eqb_eq in Ha, Hb. subst a b.
  assert (E1 : skipn (Z.to_nat d + 1) code = 0xfe :: l) by (rewrite <- skipn_skipn', E; reflexivity).
  assert (B : beside (reserved f) mw mw = 0) by (unfold beside, growth; lia).
  destruct (g <? 1) eqn:G.
  - apply FEval_halt. unfold fstep. cbn [pc stack mem mwords gas]. rewrite E. cbn [fdecode decode simple exec Z.leb Z.compare Pos.compare Pos.compare_cont andb].
    cbv zeta. rewrite B. unfold charged. cbn [gas]. change (1 + 0) with 1. rewrite G. reflexivity.
  - eapply FEval_step.
    + unfold fstep. cbn [pc stack mem mwords gas]. rewrite E. cbn [fdecode decode simple exec Z.leb Z.compare Pos.compare Pos.compare_cont andb].
      cbv zeta. rewrite B. unfold charged. cbn [gas stack]. change (1 + 0) with 1. rewrite G.
      destruct (Z.ltb_spec 1024 (Z.of_nat (length k))); [lia|]. reflexivity.
    + apply FEval_halt. unfold fstep. cbn [pc stack mem mwords gas]. rewrite E1. reflexivity.
Qed.

Lemma frun_nonneg fuel : forall T rest st g, frun p next code jumps P fuel T rest st = Some g -> 0 <= g.
Proof.
  induction fuel as [|fuel IH]; intros T rest st g H; [discriminate|]. cbn [frun] in H.
  assert (go : forall n (r : option (Z * fstate)),
    match r with
    | Some (cost, st) =>
        if (0 <=? cost) && within (sstack (base st)) then
          match frun p next code jumps P fuel T (skipn n rest) st with Some g => Some (cost + g) | None => None end
        else None
    | None => None
    end = Some g -> 0 <= g).
  { clear H. intros n r H. destruct r as [[cost st1]|]; [|discriminate].
    destruct (Z.leb_spec 0 cost); [|discriminate]. destruct (within _); [|discriminate]. cbn [andb] in H.
    destruct (frun p next code jumps P fuel T _ st1) as [g'|] eqn:R; [|discriminate]. apply IH in R.
    assert (g = cost + g') by congruence. lia. }
  destruct (fdecode next rest) as [[i n]|]; [eapply go; exact H|]. destruct (decode rest) as [i n].
  destruct i; try (match type of H with match ?r with Some _ => _ | None => _ end = _ => exact (go n r H) end).
  - destruct (sstack (base st)) as [|d [|[| | |c|l bits|] r]]; try (exact (go n (splain p P T JUMPI st) H)).
    + destruct (exactly d); [|discriminate]. destruct (_ && _); [|discriminate]. exact (go n (Some (10, (FS (S (checked p c r) (smem (base st)) (smw (base st)) (hints (base st))) (known st) (c :: failures st) (fnames st)))) H).
    + destruct (exactly d); [|discriminate]. destruct (_ && _); [|discriminate]. exact (go n (Some (10, (FS (S r (smem (base st)) (smw (base st)) (hints (base st))) (known st) (map (fun i => CAbove i bits) l ++ failures st) (fnames st)))) H).
  - destruct (sstack (base st)) as [|x [|y r]]; try (exact (go n (splain p P T RETURN st) H)).
    destruct (slot_of x) as [[a key]|]; [|discriminate]. destruct (exactly y); [|discriminate].
    destruct (_ && (0 <=? _)) eqn:Q; [|discriminate]. injection H as <-. apply andb_prop in Q as [_ Q].
    apply Z.leb_le in Q. exact Q.
Qed.

Lemma base_length k m mw f st : state_ok k m mw f st -> length k = length (sstack (base st)).
Proof. intros [[Hk _ _] _ _]. eapply stack_length; exact Hk. Qed.

Lemma frun_ok fuel : forall T pc st g k m mw f gas,
  tables_ok T -> state_ok k m mw f st ->
  frun p next code jumps P fuel T (skipn pc code) st = Some g -> g <= gas ->
  FEval next code cd (State k m mw pc gas) f (meaning P cd).
Proof.
  induction fuel as [|fuel IH]; intros T pc st g k m mw f gas HT HS H G; [discriminate|]. cbn [frun] in H.
  assert (go : forall n cost st1 k' m' mw' f', state_ok k' m' mw' f' st1 ->
    (if (0 <=? cost) && within (sstack (base st1)) then
       match frun p next code jumps P fuel T (skipn n (skipn pc code)) st1 with Some g => Some (cost + g) | None => None end
     else None) = Some g ->
    cost <= gas /\ length k' = length (sstack (base st1)) /\ Z.of_nat (length k') <= 1024 /\
    FEval next code cd (State k' m' mw' (pc + n) (gas - cost)) f' (meaning P cd)).
  { clear H. intros n cost st1 k' m' mw' f' HS1 H.
    destruct (Z.leb_spec 0 cost); [|discriminate]. destruct (within _) eqn:Wi; [|discriminate]. cbn [andb] in H.
    destruct (frun p next code jumps P fuel T _ st1) as [g'|] eqn:R; [|discriminate].
    assert (Hg : g = cost + g') by congruence. pose proof (frun_nonneg _ _ _ _ _ R). rewrite skipn_skipn' in R.
    pose proof (base_length _ _ _ _ _ HS1) as L. unfold within in Wi. apply Z.leb_le in Wi.
    split; [lia|]. split; [exact L|]. split; [lia|]. eapply IH; [exact HT | exact HS1 | exact R | lia]. }
  assert (steps : forall cost (s' : state) f', cost <= gas -> Z.of_nat (length (stack s')) <= 1024 ->
    charged (State k m mw pc gas) cost s' f' = FNext s' f').
  { intros cost s' f' C L. unfold charged. cbn [Evm.gas]. destruct (Z.ltb_spec gas cost); [lia|].
    destruct (Z.ltb_spec 1024 (Z.of_nat (length (stack s')))); [lia|]. reflexivity. }
  destruct (fdecode next (skipn pc code)) as [[i n]|] eqn:D.
  { destruct (sfield p code P (fun c => existsb (condeqb c) (fails P)) T i st) as [[cost st1]|] eqn:X; [|discriminate].
    destruct (sfield_ok _ _ _ _ _ _ _ _ _ _ HT HS X) as [[k' [m' [mw' [f' [E HS1]]]]]|[[c E] [l [_ [c' [_ [Fc Tc]]]]]]].
    - destruct (go n cost st1 k' m' mw' f' HS1 H) as [C [_ [L Ev]]].
      eapply FEval_step; [|exact Ev]. unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, E. apply steps; assumption.
    - rewrite (fails_true P cd e parsed c' Fc Tc). apply FEval_halt. unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, E. reflexivity. }
  destruct (decode (skipn pc code)) as [i n] eqn:D'.
  assert (plain :
    match splain p P T i st with
    | Some (cost, st) =>
        if (0 <=? cost) && within (sstack (base st)) then
          match frun p next code jumps P fuel T (skipn n (skipn pc code)) st with Some g => Some (cost + g) | None => None end
        else None
    | None => None
    end = Some g -> FEval next code cd (State k m mw pc gas) f (meaning P cd)).
  { clear H. intros H. destruct (splain p P T i st) as [[cost st1]|] eqn:X; [|discriminate].
    destruct (splain_ok _ _ _ _ _ _ _ _ _ (pc + n)%nat HT HS X) as [c [k' [m' [mw' [E [-> HS1]]]]]].
    destruct (go n _ st1 k' m' mw' f HS1 H) as [C [_ [L Ev]]].
    eapply FEval_step; [|exact Ev]. unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, D'.
    fold jumps. rewrite E. cbv zeta. apply steps; assumption. }
  assert (bits_ok : forall d l bits r, i = JUMPI -> sstack (base st) = d :: SOr l bits :: r ->
    match exactly d with
    | Some d =>
        if fails_at code jumps d && (0 <=? bits) && (p <=? 2 ^ bits)
           && forallb (fun i => existsb (condeqb (CNotBelow i)) (fails P)) l then
          if (0 <=? 10) && within r then
            match frun p next code jumps P fuel T (skipn n (skipn pc code))
                    (FS (S r (smem (base st)) (smw (base st)) (hints (base st))) (known st)
                        (map (fun i => CAbove i bits) l ++ failures st) (fnames st)) with
            | Some g => Some (10 + g)
            | None => None
            end
          else None
        else None
    | None => None
    end = Some g -> FEval next code cd (State k m mw pc gas) f (meaning P cd)).
  { clear H plain. intros d l bits r -> SS H. pose proof HS as [[Hk Hm Hw] HF HC]. rewrite SS in Hk.
    destruct (exactly d) as [dv|] eqn:X; [|discriminate].
    destruct (fails_at code jumps dv) eqn:Fd; [|discriminate]. destruct (Z.leb_spec 0 bits) as [B0|]; [|discriminate].
    destruct (Z.leb_spec p (2 ^ bits)) as [B1|]; [|discriminate]. destruct (forallb _ l) eqn:Fl; [|discriminate].
    change ((if (0 <=? 10) && within r then
      match frun p next code jumps P fuel T (skipn n (skipn pc code))
              (FS (S r (smem (base st)) (smw (base st)) (hints (base st))) (known st)
                  (map (fun i => CAbove i bits) l ++ failures st) (fnames st)) with
      | Some g => Some (10 + g) | None => None end else None) = Some g) in H.
    inversion Hk as [|w ? k1 ? Hd Hk1]; subst. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst.
    apply (exactly_ok _ _ _ _ _ _ Hd) in X. subst w. destruct Hu as [_ ->].
    assert (B : forall a, a + beside (reserved f) (smw (base st)) (smw (base st)) = a) by (intros a; unfold beside, growth; lia).
    assert (Vd : valid jumps dv = true).
    { unfold fails_at in Fd. apply andb_prop in Fd as [Fd _]. apply andb_prop in Fd as [_ Fd]. exact Fd. }
    rewrite forallb_forall in Fl.
    assert (R : forall i, In i l -> 0 <= e i).
    { intros i I. apply Fl, existsb_exists in I as [c [I Q]]. apply condeqb_ok in Q. subst c. destruct I as [I|I]; [discriminate|].
      apply in_map_iff in I as [[j off] [J I]]. injection J as ->. rewrite (parsed _ _ I). apply cdword_range; exact cd_bytes. }
    assert (Hb : 10 <= gas /\ Z.of_nat (length k2) <= 1024).
    { destruct (within _) eqn:Wi; [|discriminate]. change (0 <=? 10) with true in H. cbn [andb] in H.
      destruct (frun p next code jumps P fuel T _ _) as [g'|] eqn:Fr; [|discriminate]. apply frun_nonneg in Fr.
      assert (g = 10 + g') by congruence. unfold within in Wi. apply Z.leb_le in Wi.
      rewrite (stack_length _ _ _ _ _ Hk2). lia. }
    pose proof (above P cd e l bits B0 R) as Ab. destruct (Z.shiftr (all_bits e l) bits =? 0) eqn:Zr.
    - assert (HN : state_ok k2 m (smw (base st)) f (FS (S r (smem (base st)) (smw (base st)) (hints (base st))) (known st)
        (map (fun i => CAbove i bits) l ++ failures st) (fnames st))).
      { split; cbn [base known failures]; [split; cbn [sstack smem Check.smw]; auto | exact HF|].
        intros c I. apply in_app_or in I as [I|I]; [|auto]. apply in_map_iff in I as [i [<- I]]. apply Ab; exact I. }
      destruct (go n 10 _ _ _ _ _ HN H) as [C [_ [L Ev]]].
      eapply FEval_step; [|exact Ev]. unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, D'. fold jumps.
      cbn [exec]. rewrite Zr. cbv zeta. rewrite B. apply steps; assumption.
    - destruct Ab as [i [I C]]. eapply FEval_step.
      + unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, D'. fold jumps. cbn [exec]. rewrite Zr, Vd.
        cbv zeta. rewrite B. apply steps; [lia | cbn [stack]; lia].
      + rewrite (fails_true P cd e parsed (CNotBelow i)); [apply fails_at_ok; [exact Fd | lia] | apply Fl; exact I |].
        cbn [Sound.ceval] in C |- *. apply Z.leb_le in C. apply Z.leb_le. fold p. lia. }
  destruct i; try (apply plain; exact H).
  - (* JUMPI *)
    pose proof HS as [[Hk Hm Hw] HF HC].
    destruct (sstack (base st)) as [|d [|[| | |c|l bits|] r]] eqn:SS; try (apply plain; exact H); clear plain.
    2: { exact (bits_ok d l bits r eq_refl eq_refl H). }
    destruct (exactly d) as [dv|] eqn:X; [|discriminate].
    destruct (fails_at code jumps dv) eqn:Fd; [|discriminate]. destruct (existsb (condeqb c) (fails P)) eqn:Fc; [|discriminate].
    cbn [andb] in H.
    inversion Hk as [|w ? k1 ? Hd Hk1]; subst. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst.
    apply (exactly_ok _ _ _ _ _ _ Hd) in X. subst w. destruct Hu as [_ ->].
    assert (B : forall a, a + beside (reserved f) (smw (base st)) (smw (base st)) = a) by (intros a; unfold beside, growth; lia).
    assert (Vd : valid jumps dv = true).
    { unfold fails_at in Fd. apply andb_prop in Fd as [Fd _]. apply andb_prop in Fd as [_ Fd]. exact Fd. }
    assert (Hb : 10 <= gas /\ Z.of_nat (length k2) <= 1024).
    { cbn [base] in H. destruct (0 <=? 10); [|discriminate]. destruct (within _) eqn:Wi; [|discriminate]. cbn [andb] in H.
      destruct (frun p next code jumps P fuel T _ _) as [g'|] eqn:R; [|discriminate]. apply frun_nonneg in R.
      assert (g = 10 + g') by congruence. unfold within in Wi. apply Z.leb_le in Wi. cbn [sstack] in Wi.
      change (checked p c r) with (checked (modulus P) c r) in Wi. rewrite checked_length in Wi. rewrite (stack_length _ _ _ _ _ Hk2). lia. }
    destruct (Sound.ceval P cd e c) eqn:Ec.
    + eapply FEval_step.
      * unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, D'. fold jumps. cbn [exec b2z Z.eqb]. rewrite Vd.
        cbv zeta. rewrite B. apply steps; [lia | cbn [stack]; lia].
      * rewrite (fails_true P cd e parsed c Fc Ec). apply fails_at_ok; [exact Fd | lia].
    + assert (HN : state_ok k2 m (smw (base st)) f (FS (S (checked p c r) (smem (base st)) (smw (base st)) (hints (base st))) (known st) (c :: failures st) (fnames st))).
      2: { destruct (go n 10 _ _ _ _ _ HN H) as [C [_ [L Ev]]].
            eapply FEval_step; [|exact Ev]. unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, D'. fold jumps.
           cbn [exec b2z Z.eqb]. cbv zeta. rewrite B. apply steps; assumption. }
      split; cbn [base known failures]; [|exact HF | intros c' [<-|I]; auto].
      split; cbn [sstack smem Check.smw]; auto. apply checked_ok; assumption.
  - (* RETURN *)
    pose proof HS as [[Hk Hm Hw] HF HC].
    destruct (sstack (base st)) as [|x [|y r]] eqn:SS; try (apply plain; exact H). clear plain.
    destruct (slot_of x) as [[a key]|] eqn:X; [|discriminate]. destruct (exactly y) as [v|] eqn:Y; [|discriminate].
    destruct (Z.eqb_spec v (32 * Z.of_nat (length (results P)))) as [Ev|]; [|discriminate].
    destruct (returns p T (smem (base st)) key (results P)) eqn:Rt; [|discriminate]. cbn [andb] in H.
    destruct (forallb _ (fails P)) eqn:Fa; [|discriminate]. cbn [andb] in H.
    destruct (0 <=? _) eqn:Cost; [|discriminate].
    match type of H with Some ?x = Some ?y => assert (Hg : x = y) by congruence end. clear H.
    inversion Hk as [|w ? k1 ? Hx Hk1]; subst. inversion Hk1 as [|u ? k2 ? Hu Hk2]; subst.
    destruct (slot_ok _ _ _ _ _ _ _ Hx X) as [-> [Ha E]]. apply (exactly_ok _ _ _ _ _ _ Hu) in Y. subst u.
    rewrite (fails_false P cd e parsed final_is).
    + apply FEval_halt. unfold fstep. cbn [Evm.pc stack mem mwords Evm.gas]. rewrite D, D'. cbn [exec]. cbv zeta.
      rewrite (reserved_ok _ _ HF).
      match goal with |- (if ?b then _ else _) = _ => replace b with false by (symmetry; apply Z.ltb_ge; lia) end.
      f_equal. f_equal. replace (Z.to_nat (32 * Z.of_nat (length (results P)))) with (32 * length (results P))%nat by lia.
      rewrite E. eapply returns_ok; eassumption.
    + intros c I. rewrite forallb_forall in Fa. specialize (Fa _ I). apply existsb_exists in Fa as [c' [I' Q]].
      apply condeqb_ok in Q. subst c'. apply HC; exact I'.
Qed.
End Run.

(* The code ends as the program means, whatever calldata is, with any gas from g0 on. *)
Theorem check_slots_sound next P w code g0 : check_slots next P w code = Some g0 ->
  forall cd, Forall is_byte cd -> Z.of_nat (length cd) < W ->
  forall g, g0 <= g -> FEval next code cd (start g) none (meaning P cd).
Proof.
  unfold check_slots. intros H cd Hcd Len g G. destruct (forallb _ code) eqn:By; [|discriminate].
  destruct (Z.odd (modulus P)) eqn:Odd; [|discriminate]. cbn [andb] in H.
  destruct (prepared P w) as [T|] eqn:Pr; [|discriminate].
  destruct (prepared_ok P w T cd Pr) as [[p1 pW] [one [parsed [T1 small]]]].
  assert (Hc : Forall is_byte code).
  { apply Forall_forall. intros b I. rewrite forallb_forall in By. specialize (By _ I). unfold between in By.
    apply andb_prop in By as [L1 L2]. apply Z.leb_le in L1, L2. unfold is_byte. lia. }
  refine (frun_ok P cd Hcd Len next code Hc p1 pW Odd (final P cd) one parsed (fun _ => eq_refl) small (length code) T 0%nat _ g0 []
    (fun _ => 0) 0 none g T1 _ H G).
  split; cbn [base known failures]; [|reflexivity | intros c []].
  split; cbn [sstack smem Check.smw]; [constructor | apply zeros_ok | reflexivity].
Qed.

Print Assumptions check_slots_sound.
