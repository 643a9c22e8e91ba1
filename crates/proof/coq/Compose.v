(* How blocks become a program: runs without a limit of gas, segments between labels, and simulation.
   Control of any kind (branches, loops, calls by an address on the stack, sequences by computed jumps) is the same to the last theorem:
   a label with what must hold there. What remains for each edge is a segment, which a checker of straight code gives. *)
From Coq Require Import ZArith List Bool Lia FMapPositive.
From Residue Require Import Evm Words Program Check Sums Sound.
Import ListNotations.
Open Scope Z_scope.

Section Code.
Variables code cd : list Z.

(* A machine without gas. *)
Record core := Core { c_stack : list Z; c_mem : memory; c_mwords : Z; c_pc : nat }.
Definition with_gas (c : core) (g : Z) : state := State (c_stack c) (c_mem c) (c_mwords c) (c_pc c) g.

Inductive fate := Goes (cost : Z) (c : core) | Ends (cost : Z) (o : outcome).
Definition move (c : core) : fate :=
  let '(i, n) := decode (skipn (c_pc c) code) in
  let '(cost, e) := exec code cd i (c_pc c + n) (c_stack c) (c_mem c) (c_mwords c) in
  match e with
  | Go k m mw pc => if 1024 <? Z.of_nat (length k) then Ends cost Failed else Goes cost (Core k m mw pc)
  | Ret b => Ends cost (Returned b)
  | Bad => Ends cost Failed
  | Unmodelled => Ends cost Unknown
  end.

(* From one place to another, for so much gas. *)
Inductive Seg : core -> Z -> core -> Prop :=
| Seg_none c : Seg c 0 c
| Seg_more c cost c1 n c2 : move c = Goes cost c1 -> 0 <= cost -> Seg c1 n c2 -> Seg c (cost + n) c2.

(* To an end. *)
Inductive Runs : core -> Z -> outcome -> Prop :=
| Runs_end c cost o : move c = Ends cost o -> 0 <= cost -> Runs c cost o
| Runs_more c cost c1 n o : move c = Goes cost c1 -> 0 <= cost -> Runs c1 n o -> Runs c (cost + n) o.

Lemma Seg_trans a n b m c : Seg a n b -> Seg b m c -> Seg a (n + m) c.
Proof.
  intros H K; induction H; [exact K|]. rewrite <- Z.add_assoc. eapply Seg_more; eauto.
Qed.

Lemma Seg_Runs a n b m o : Seg a n b -> Runs b m o -> Runs a (n + m) o.
Proof.
  intros H K; induction H; [exact K|]. rewrite <- Z.add_assoc. eapply Runs_more; eauto.
Qed.

(* There is an amount of gas from which on the end is this one: no instruction here looks at gas. *)
Theorem gas_enough c n o : Runs c n o -> 0 <= n /\ forall g, n <= g -> Eval code cd (with_gas c g) o.
Proof.
  induction 1 as [c cost o M C | c cost c1 n o M C _ [N IH]].
  - split; [exact C|]. intros g G. apply Eval_halt. revert M. unfold move, step, with_gas. cbn [pc stack mem mwords gas].
    destruct (decode _) as [i k]. destruct (exec _ _ _ _ _ _ _) as [cost' e].
    destruct e; try (destruct (_ <? Z.of_nat _)); intros E; inversion E; subst; try reflexivity;
      destruct (Z.ltb_spec g cost); reflexivity || lia.
  - split; [lia|]. intros g G. eapply Eval_step; [|apply (IH (g - cost)); lia].
    revert M. unfold move, step, with_gas. cbn [pc stack mem mwords gas].
    destruct (decode _) as [i k]. destruct (exec _ _ _ _ _ _ _) as [cost' e].
    destruct e; try (destruct (_ <? Z.of_nat _)); intros E; inversion E; subst; try discriminate.
    destruct (Z.ltb_spec g cost); [lia|]. reflexivity.
Qed.

(* ---- simulation ---- *)

(* The program: what it does next, and where it is. It ends where its evaluation ends; loops of programs have counts, so that is always. *)
Variable conf : Type.
Variable pstep : conf -> conf + outcome.
Inductive PEval : conf -> outcome -> Prop :=
| P_end c o : pstep c = inr o -> PEval c o
| P_step c c' o : pstep c = inl c' -> PEval c' o -> PEval c o.

(* What holds where code and program stand at labels that belong together: the location maps of the certificate. *)
Variable R : conf -> core -> Prop.
Hypothesis edges : forall c s, R c s ->
  match pstep c with
  | inl c' => exists n s', Seg s n s' /\ R c' s'
  | inr o => exists n, Runs s n o
  end.

Theorem simulation c o : PEval c o -> forall s, R c s ->
  exists g0, forall g, g0 <= g -> Eval code cd (with_gas s g) o.
Proof.
  intros H. assert (forall s, R c s -> exists n, Runs s n o) as G.
  { induction H as [c o E | c c' o E _ IH]; intros s Hs; pose proof (edges _ _ Hs) as S0; rewrite E in S0.
    - exact S0.
    - destruct S0 as [n [s' [S1 R1]]]. destruct (IH _ R1) as [m Hm]. exists (n + m). eapply Seg_Runs; eauto. }
  intros s Hs. destruct (G _ Hs) as [n Hn]. exists n. apply gas_enough; exact Hn.
Qed.

End Code.

(* ---- a segment of straight code by the checker: from a location map to a location map ---- *)

Section Block.
Variable P : program.

Fixpoint block (fuel : nat) (T : tables) (rest : list Z) (names : list (option positive)) (s : sstate) : option (Z * nat * sstate) :=
  match fuel with
  | O => Some (0, O, s)
  | Datatypes.S fuel =>
      let '(i, n) := decode rest in
      match sinstr (modulus P) T (parses P) i s with
      | Some (cost, s) =>
          let '(f, names) := if arithmetic i then match names with f :: r => (f, r) | [] => (None, []) end else (None, names) in
          match named (modulus P) T f s with
          | Some s =>
              if (0 <=? cost) && within (sstack s) then
                match block fuel T (skipn n rest) names s with
                | Some (g, k, s) => Some (cost + g, (n + k)%nat, s)
                | None => None
                end
              else None
          | None => None
          end
      | None => None
      end
  end.

Lemma block_ok code cd e (bytes : Forall is_byte cd) (short : Z.of_nat (length cd) < W)
  (p_pos : 1 < modulus P) (one : e 1%positive = 1)
  (parsed : forall i off, In (i, off) (parses P) -> e i = cdword cd off) T (HT : tables_ok P e T) fuel :
  forall pc names s g n s' k m mw,
  block fuel T (skipn pc code) names s = Some (g, n, s') -> match_ok P cd e k m mw s ->
  exists k' m' mw', Seg code cd (Core k m mw pc) g (Core k' m' mw' (pc + n)) /\ match_ok P cd e k' m' mw' s'.
Proof.
  induction fuel as [|fuel IH]; intros pc names s g n s' k m mw H HM; cbn [block] in H.
  - injection H as <- <- <-. exists k, m, mw. rewrite Nat.add_0_r. split; [constructor | exact HM].
  - destruct (decode (skipn pc code)) as [i len] eqn:D.
    destruct (sinstr _ T (parses P) i s) as [[cost s1]|] eqn:X; [|discriminate].
    match type of H with (let '(_, _) := ?x in _) = _ => destruct x as [f names'] end.
    destruct (named _ T f s1) as [s2|] eqn:Nm; [|discriminate].
    destruct (Z.leb_spec 0 cost); [|discriminate]. destruct (within (sstack s2)) eqn:Wi; [|discriminate]. cbn [andb] in H.
    destruct (block fuel T _ names' s2) as [[[g' n'] s3]|] eqn:B; [|discriminate].
    assert (g = cost + g' /\ n = (len + n')%nat /\ s' = s3) as [-> [-> ->]] by (repeat split; congruence).
    rewrite skipn_skipn' in B.
    destruct (sinstr_ok P cd bytes short code p_pos e one parsed T i s cost s1 k m mw (pc + len)%nat HT HM X)
      as [k1 [m1 [mw1 [E HM1]]]].
    pose proof (named_ok P cd e T f s1 s2 k1 m1 mw1 HT HM1 Nm) as HM2.
    destruct (IH _ _ _ _ _ _ _ _ _ B HM2) as [k' [m' [mw' [Sg HM']]]].
    exists k', m', mw'. rewrite Nat.add_assoc. split; [|exact HM'].
    eapply Seg_more; [|assumption | exact Sg]. unfold move. cbn [c_pc c_stack c_mem c_mwords]. rewrite D, E.
    apply Z.leb_le in Wi. destruct HM2 as [Hk _ _]. rewrite (stack_length P cd e _ _ Hk).
    destruct (Z.ltb_spec 1024 (Z.of_nat (length (sstack s2)))); [lia | reflexivity].
Qed.
End Block.

Print Assumptions simulation.
Print Assumptions block_ok.
