(* Sums modulo p, and the equations of a program: the lemmas that `Sound.v` stands on. *)
From Coq Require Import ZArith List Bool Lia.
From Residue Require Import Evm Words Program Check.
Import ListNotations.
Open Scope Z_scope.

(* ---- the same modulo p ---- *)

Definition cong (p x y : Z) : Prop := exists k, x = y + k * p.

Section Cong.
Variable p : Z.
Lemma cong_refl x : cong p x x. Proof. exists 0; lia. Qed.
Lemma cong_sym x y : cong p x y -> cong p y x. Proof. intros [k H]; exists (- k); lia. Qed.
Lemma cong_trans x y z : cong p x y -> cong p y z -> cong p x z.
Proof. intros [k H] [l K]; exists (k + l); lia. Qed.
Lemma cong_add a b c d : cong p a b -> cong p c d -> cong p (a + c) (b + d).
Proof. intros [k H] [l K]; exists (k + l); lia. Qed.
Lemma cong_opp a b : cong p a b -> cong p (- a) (- b).
Proof. intros [k H]; exists (- k); lia. Qed.
Lemma cong_sub a b c d : cong p a b -> cong p c d -> cong p (a - c) (b - d).
Proof. intros H K. apply (cong_add _ _ _ _ H (cong_opp _ _ K)). Qed.
Lemma cong_mul a b c d : cong p a b -> cong p c d -> cong p (a * c) (b * d).
Proof. intros [k H] [l K]; subst; exists (k * d + b * l + k * l * p); ring. Qed.
Lemma cong_mod x : 0 < p -> cong p (x mod p) x.
Proof. intros H. exists (- (x / p)). pose proof (Z.div_mod x p). lia. Qed.
Lemma cong_eq x y : 0 <= x < p -> 0 <= y < p -> cong p x y -> x = y.
Proof. intros Hx Hy [k H]. assert (k = 0) by nia. subst; lia. Qed.
End Cong.
Global Hint Resolve cong_refl : core.

(* ---- sums ---- *)

Section Sums.
Variable p : Z.
Hypothesis p_pos : 1 < p.
Variable e : env.
Hypothesis one : e 1%positive = 1.

Lemma addp_ok c d : cong p (addp p c d) (c + d).
Proof. unfold addp. destruct (p <=? c + d); [exists (-1); lia | apply cong_refl]. Qed.

Lemma den_sadd a b : cong p (den e (sadd p a b)) (den e a + den e b).
Proof.
  revert b; induction a as [|[i c] a IH]; intros b; [cbn; exists 0; lia|].
  induction b as [|[j d] b IHb]; [cbn; exists 0; lia|].
  cbn [sadd]. destruct (Pos.compare_spec i j) as [E|L|G].
  - subst j. pose proof (addp_ok c d) as A.
    assert (H : cong p (addp p c d * e i + (den e a + den e b)) (den e ((i, c) :: a) + den e ((i, d) :: b))).
    { cbn [den]. replace (c * e i + den e a + (d * e i + den e b)) with ((c + d) * e i + (den e a + den e b)) by ring.
      apply cong_add; [apply cong_mul; auto | auto]. }
    destruct (Z.eqb_spec (addp p c d) 0) as [Z0|_].
    + rewrite Z0 in H. eapply cong_trans; [apply IH|]. exact H.
    + cbn [den]. eapply cong_trans; [|exact H]. apply cong_add; auto.
  - cbn [den]. eapply cong_trans; [apply cong_add; [apply cong_refl | apply IH]|]. cbn [den]. exists 0; ring.
  - cbn [den]. eapply cong_trans; [apply cong_add; [apply cong_refl | apply IHb]|]. cbn [den]. exists 0; ring.
Qed.

Lemma den_sneg a : cong p (den e (sneg p a)) (- den e a).
Proof.
  induction a as [|[i c] a IH]; cbn; [exists 0; lia|].
  eapply cong_trans; [apply cong_add; [|exact IH]|]; [apply cong_refl|]. exists (e i); ring.
Qed.

Lemma den_sscale k a : cong p (den e (sscale p k a)) (k * den e a).
Proof.
  unfold sscale. destruct (Z.eqb_spec k 0) as [->|_]; [cbn; exists 0; lia|].
  induction a as [|[i c] a IH]; [cbn; exists 0; lia|]. cbn [map filter].
  assert (R : cong p ((k * c) mod p) (k * c)) by (apply cong_mod; lia).
  replace (k * den e ((i, c) :: a)) with (k * c * e i + k * den e a) by (cbn [den]; ring).
  destruct (Z.eqb_spec ((k * c) mod p) 0) as [Z0|_]; cbn [negb den].
  - rewrite Z0 in R. change (den e (filter _ _)) with (0 * e i + den e (filter (fun '(_, c) => negb (c =? 0))
      (map (fun '(i, c) => (i, (k * c) mod p)) a))). apply cong_add; [apply cong_mul; auto | exact IH].
  - apply cong_add; [apply cong_mul; auto | exact IH].
Qed.

Lemma den_const v : cong p (den e (const p v)) v.
Proof.
  unfold const. set (r := if v <? p then v else v mod p).
  assert (R : cong p r v) by (unfold r; destruct (v <? p); [apply cong_refl | apply cong_mod; lia]).
  destruct (Z.eqb_spec r 0) as [E|_]; cbn; [rewrite E in R; exact R | rewrite one].
  eapply cong_trans; [|exact R]. exists 0; ring.
Qed.

Lemma as_const_ok a k : as_const a = Some k -> den e a = k.
Proof.
  destruct a as [|[i c] [|x a]]; intros H; unfold as_const in H; try discriminate.
  - injection H as <-. reflexivity.
  - destruct (Pos.eqb_spec i 1); [|discriminate]. injection H as ->. subst. cbn [den]. rewrite one. ring.
Qed.

Lemma seqb_ok a b : seqb a b = true -> a = b.
Proof.
  revert b; induction a as [|[i c] a IH]; intros [|[j d] b]; cbn; intros H; try discriminate; auto.
  apply andb_prop in H as [H H2]. apply andb_prop in H as [H0 H1].
  apply Pos.eqb_eq in H0. apply Z.eqb_eq in H1. apply IH in H2. congruence.
Qed.
End Sums.

(* ---- the program's equations ---- *)

Definition holds (p : Z) (e : env) (o : op) : Prop :=
  e (out o) = field_op p (what o) (read e (left o)) (read e (right o)).

Lemma eval_ops_below p l : forall least e j,
  ascends least l = true -> (j < least)%positive -> eval_ops p l e j = e j.
Proof.
  induction l as [|o l IH]; intros least e j H L; [reflexivity|].
  cbn in H. apply andb_prop in H as [H Hr]. apply andb_prop in H as [H _]. apply andb_prop in H as [H _].
  apply Pos.leb_le in H. unfold eval_ops. cbn [fold_left]. fold (eval_ops p l (eval_op p e o)).
  rewrite (IH _ _ _ Hr) by lia. unfold eval_op, set. destruct (Pos.eqb_spec j (out o)); [lia | reflexivity].
Qed.

Lemma eval_ops_holds p l : forall least e, ascends least l = true -> Forall (holds p (eval_ops p l e)) l.
Proof.
  induction l as [|o l IH]; intros least e H; [constructor|].
  cbn in H. apply andb_prop in H as [H Hr]. apply andb_prop in H as [H Hright]. apply andb_prop in H as [H Hleft].
  unfold eval_ops. cbn [fold_left]. fold (eval_ops p l (eval_op p e o)). constructor; [|eapply IH; exact Hr].
  assert (R : forall x, (match x with V i => Pos.ltb i (out o) | C _ => true end) = true ->
                        read (eval_ops p l (eval_op p e o)) x = read e x).
  { intros [i|c] Hx; cbn; [|reflexivity]. apply Pos.ltb_lt in Hx.
    rewrite (eval_ops_below _ _ _ _ _ Hr) by lia. unfold eval_op, set.
    destruct (Pos.eqb_spec i (out o)); [lia | reflexivity]. }
  unfold holds. rewrite (R _ Hleft), (R _ Hright).
  rewrite (eval_ops_below _ _ _ _ _ Hr) by lia. unfold eval_op at 1, set. rewrite Pos.eqb_refl. reflexivity.
Qed.

Lemma parses_ascend_le l : forall least top, parses_ascend least l = Some top -> (least <= top)%positive.
Proof.
  induction l as [|[i off] l IH]; intros least top H; cbn in H; [injection H as ->; lia|].
  destruct (Pos.leb_spec least i); [|discriminate]. destruct (0 <=? off); [|discriminate]. apply IH in H. lia.
Qed.

Lemma eval_parses_below cd l : forall least top e j,
  parses_ascend least l = Some top -> (j < least)%positive -> eval_parses cd l e j = e j.
Proof.
  induction l as [|[i off] l IH]; intros least top e j H L; [reflexivity|]. cbn in H.
  destruct (Pos.leb_spec least i); [|discriminate]. destruct (0 <=? off); [|discriminate].
  unfold eval_parses. cbn [fold_left]. fold (eval_parses cd l (set e i (cdword cd off))).
  rewrite (IH _ _ _ _ H) by lia. unfold set. destruct (Pos.eqb_spec j i); [lia | reflexivity].
Qed.

Lemma eval_parses_ok cd l : forall least top e i off,
  parses_ascend least l = Some top -> In (i, off) l -> eval_parses cd l e i = cdword cd off /\ (i < top)%positive.
Proof.
  induction l as [|[i' off'] l IH]; intros least top e i off H I; [destruct I|]. cbn in H.
  destruct (Pos.leb_spec least i'); [|discriminate]. destruct (0 <=? off'); [|discriminate]. cbn [andb] in H.
  unfold eval_parses. cbn [fold_left]. fold (eval_parses cd l (set e i' (cdword cd off'))).
  destruct I as [E|I]; [|exact (IH _ _ _ _ _ H I)]. injection E as <- <-. split.
  - rewrite (eval_parses_below _ _ _ _ _ _ H) by lia. unfold set. rewrite Pos.eqb_refl. reflexivity.
  - apply parses_ascend_le in H. lia.
Qed.

(* ---- what a run takes ---- *)

Lemma run_nonneg code P q fuel : forall T rest done names s g, run q code P fuel T rest done names s = Some g -> 0 <= g.
Proof.
  induction fuel as [|fuel IH]; intros T rest done names s g H; [discriminate|].
  cbn [run] in H. destruct (decode rest) as [i n].
  assert (plain :
    match sinstr q T (parses P) i s with
    | Some (cost, s) =>
        let '(f, names) := if arithmetic i then match names with f :: r => (f, r) | [] => (None, []) end
                           else (None, names) in
        match named q T f s with
        | Some s =>
            if (0 <=? cost) && within (sstack s) then
              match run q code P fuel T (skipn n rest) done names s with Some g => Some (cost + g) | None => None end
            else None
        | None => None
        end
    | None => None
    end = Some g -> 0 <= g).
  { clear H. intros H. destruct (sinstr q T (parses P) i s) as [[cost s1]|]; [|discriminate].
    match type of H with (let '(_, _) := ?x in _) = _ => destruct x as [f names'] end.
    destruct (named q T f s1) as [s'|]; [|discriminate].
    destruct (Z.leb_spec 0 cost); [|discriminate]. destruct (within (sstack s')); [|discriminate]. cbn [andb] in H.
    destruct (run q code P fuel T _ done names' s') as [g'|] eqn:R; [|discriminate]. apply IH in R. match type of H with Some ?x = Some ?y => assert (x = y) by congruence end. lia. }
  destruct i; try (apply plain; exact H); clear plain.
  - destruct (sstack s) as [|d [|[| | |c| |] r]]; try (cbn in H; discriminate).
    destruct (exactly d); [|discriminate]. destruct (_ && _); [|discriminate].
    destruct (run q code P fuel T _ _ _ _) as [g'|] eqn:R; [|discriminate]. apply IH in R. match type of H with Some ?x = Some ?y => assert (x = y) by congruence end. lia.
  - destruct (sstack s) as [|x [|y r]]; try (cbn in H; discriminate).
    destruct (slot_of x) as [[a key]|]; [|discriminate]. destruct (exactly y); [|discriminate].
    destruct (_ && (0 <=? _)) eqn:Q; [|discriminate]. injection H as <-. apply andb_prop in Q as [_ Q].
    apply Z.leb_le in Q. exact Q.
Qed.
