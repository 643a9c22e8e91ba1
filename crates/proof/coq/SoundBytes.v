(* The checker of programs of words is sound: what it accepts ends as the program does. *)
From Coq Require Import ZArith List Bool Lia FMapPositive FMapFacts.
From Residue Require Import Evm Words Program Hashing Bytes CheckBytes.
Import ListNotations.
Open Scope Z_scope.

Module F := FMapFacts.WFacts_fun PositiveMap.E PositiveMap.

(* ---- words ---- *)

Lemma W_two : W = 2 ^ 256. Proof. reflexivity. Qed.

Definition is_word (z : Z) : Prop := 0 <= z < W.

Lemma bits_word (f : bool -> bool -> bool) (op : Z -> Z -> Z) a b :
  (forall n, Z.testbit (op a b) n = f (Z.testbit a n) (Z.testbit b n)) -> f false false = false ->
  0 <= op a b -> is_word a -> is_word b -> is_word (op a b).
Proof.
  intros S E N [A A'] [B B']. split; [exact N|]. rewrite W_two in *.
  destruct (Z.eq_dec (op a b) 0) as [->|NZ]; [reflexivity|]. apply Z.log2_lt_pow2; [lia|].
  destruct (Z.lt_ge_cases (Z.log2 (op a b)) 256) as [L|G]; [exact L|]. exfalso.
  assert (H : forall x, 0 <= x < 2 ^ 256 -> Z.testbit x (Z.log2 (op a b)) = false).
  { intros x X. destruct (Z.eq_dec x 0) as [->|]; [apply Z.bits_0|]. apply Z.bits_above_log2; [lia|].
    assert (Z.log2 x < 256) by (apply Z.log2_lt_pow2; lia). lia. }
  pose proof (Z.bit_log2 (op a b)) as L. rewrite S, !H, E in L by (cbv beta; lia). specialize (L ltac:(lia)). discriminate.
Qed.

Lemma b2z_word b : is_word (b2z b). Proof. destruct b; split; cbn; lia || reflexivity. Qed.

Lemma mod_word a b : is_word b -> is_word (if b =? 0 then 0 else a mod b).
Proof.
  intros [B B']. destruct (Z.eqb_spec b 0); [split; [lia | reflexivity]|].
  pose proof (Z.mod_pos_bound a b ltac:(lia)). split; lia.
Qed.

Lemma apply_word f a b c : is_word a -> is_word b -> is_word c -> is_word (apply f a b c).
Proof.
  intros A B C. pose proof W_pos as P.
  assert (M : forall x, is_word (x mod W)) by (intros x; apply Z.mod_pos_bound; exact P).
  destruct f; cbn [apply]; try apply M; try apply b2z_word; try (apply mod_word; assumption).
  - destruct A, B. destruct (Z.eqb_spec b 0); [split; lia|].
    split; [apply Z.div_pos; lia | apply Z.le_lt_trans with a; [apply Z.div_le_upper_bound; nia | assumption]].
  - apply (bits_word andb Z.land); auto; [intros; apply Z.land_spec | apply Z.land_nonneg; left; apply A].
  - apply (bits_word orb Z.lor); auto; [intros; apply Z.lor_spec | apply Z.lor_nonneg; split; [apply A | apply B]].
  - apply (bits_word xorb Z.lxor); auto; [intros; apply Z.lxor_spec | apply Z.lxor_nonneg; split; intros; [apply B | apply A]].
  - unfold shifted_left. destruct (a <? 256); [apply M | split; lia].
  - destruct (a <? 256); [|split; lia]. destruct A as [A _], B as [B B']. rewrite Z.shiftr_div_pow2 by exact A.
    pose proof (Z.pow_pos_nonneg 2 a ltac:(lia) A). split; [apply Z.div_pos; lia|].
    apply Z.le_lt_trans with b; [apply Z.div_le_upper_bound; nia | exact B'].
  - unfold byte_at. destruct (a <? 32); [|split; lia].
    pose proof (Z.mod_pos_bound (b / 256 ^ (31 - a)) 256 ltac:(lia)). split; [lia | rewrite W_two; lia].
Qed.

Lemma write_bytes m a l : (forall x, is_byte (m x)) -> Forall is_byte l -> forall x, is_byte (write m a l x).
Proof.
  intros M L x. unfold write. destruct (_ && _) eqn:E; [|apply M]. apply andb_prop in E as [E E'].
  apply Z.leb_le in E; apply Z.ltb_lt in E'. rewrite Forall_forall in L. apply L, nth_In. lia.
Qed.

Lemma bytes_of_bytes n w : Forall is_byte (bytes_of n w).
Proof.
  revert w; induction n as [|n IH]; intros w; cbn; [constructor|]. apply Forall_app. split; [apply IH|].
  constructor; [apply Z.mod_pos_bound; lia | constructor].
Qed.

Lemma mstore_write m a w x : mstore m a w x = write m a (bytes_of 32 w) x.
Proof. rewrite mstore_nth. unfold write. rewrite bytes_of_length. reflexivity. Qed.

Lemma eqo_is a b : eqo a b = true -> a = b.
Proof. destruct a, b; cbn; intros H; try discriminate; [apply Z.eqb_eq in H | apply Pos.eqb_eq in H]; congruence. Qed.

Lemma eqf_is f g : eqf f g = true -> f = g.
Proof. destruct f, g; intros H; try reflexivity; discriminate. Qed.

Ltac splits := repeat match goal with H : (_ && _) = true |- _ => apply andb_prop in H as [? ?] end.

Lemma eqn_is m n : eqn m n = true -> m = n.
Proof.
  destruct m, n; cbn [eqn]; intros H; try discriminate; splits;
    repeat match goal with
    | H : eqo _ _ = true |- _ => apply eqo_is in H | H : eqf _ _ = true |- _ => apply eqf_is in H
    | H : Pos.eqb _ _ = true |- _ => apply Pos.eqb_eq in H end; congruence.
Qed.

Section Sound.
Variable keccak : list Z -> Z.
Hypothesis keccak_word : forall l, 0 <= keccak l < W.
Variable cd : list Z.
Hypothesis cd_bytes : Forall is_byte cd.
Hypothesis cd_short : Z.of_nat (length cd) < W.
Variable code : list Z.
Variable fuel : nat.
Variable turn : Z.
Hypothesis turn_pos : 0 <= turn.
Variable heads : list (positive * head).

Lemma some_pair {A B} (a c : A) (b d : B) : Some (a, b) = Some (c, d) -> a = c /\ b = d.
Proof. intros H. injection H as -> ->. auto. Qed.

(* ---- what numbers mean ---- *)

Record values := Values { wv : positive -> Z; sv : positive -> memory }.

Definition oval (V : values) (o : operand) : Z := match o with Num z => z | Atom i => wv V i end.
Definition nval (V : values) (n : node) : Z :=
  match n with
  | NOp f a b c => apply f (oval V a) (oval V b) (oval V c)
  | NSize => Z.of_nat (length cd)
  | NCalldata a => cdword cd (oval V a)
  | NScratch g a => mload (sv V g) (oval V a)
  | NHash g a n => keccak (mbytes (sv V g) (oval V a) (Z.to_nat (oval V n)))
  end.

Definition below (T : table) (o : operand) : Prop := match o with Num z => is_word z | Atom i => (i < next T)%positive end.
Definition node_below (T : table) (n : node) : Prop :=
  match n with
  | NOp _ a b c => below T a /\ below T b /\ below T c
  | NSize => True
  | NCalldata a => below T a
  | NScratch g a => (g < next T)%positive /\ below T a
  | NHash g a n => (g < next T)%positive /\ below T a /\ below T n
  end.

Record tok (V : values) (T : table) : Prop := Tok {
  t_words : forall i, is_word (wv V i);
  t_bytes : forall g x, is_byte (sv V g x);
  t_nodes : forall i n, M.find i (nodes T) = Some n -> wv V i = nval V n /\ node_below T n;
  t_next : forall i n, M.find i (nodes T) = Some n -> (i < next T)%positive;
  t_limits : forall i z, M.find i (limits T) = Some z -> wv V i <= z /\ (i < next T)%positive }.

Record grows (T T' : table) (V V' : values) : Prop := Grows {
  g_words : forall i, (i < next T)%positive -> wv V' i = wv V i;
  g_states : forall g, (g < next T)%positive -> sv V' g = sv V g;
  g_next : (next T <= next T')%positive }.

Lemma grows_refl T V : grows T T V V. Proof. split; auto. lia. Qed.
Lemma grows_trans T T' T'' V V' V'' : grows T T' V V' -> grows T' T'' V' V'' -> grows T T'' V V''.
Proof.
  intros [A B C] [A' B' C']. split; intros; [rewrite A', A by lia | rewrite B', B by lia | lia]; reflexivity.
Qed.

Lemma oval_word V T o : tok V T -> below T o -> is_word (oval V o).
Proof. intros K B. destruct o; [exact B | apply (t_words _ _ K)]. Qed.

Lemma oval_grows T T' V V' o : grows T T' V V' -> below T o -> oval V' o = oval V o.
Proof. intros G B. destruct o; [reflexivity | apply (g_words _ _ _ _ G), B]. Qed.

Lemma below_grows T T' V V' o : grows T T' V V' -> below T o -> below T' o.
Proof. intros [_ _ G] B. destruct o; cbn in *; [exact B | lia]. Qed.

Lemma node_grows T T' V V' n : grows T T' V V' -> node_below T n -> nval V' n = nval V n.
Proof.
  intros G B. destruct n; cbn [nval node_below] in *; repeat match goal with H : _ /\ _ |- _ => destruct H end;
    rewrite ?(oval_grows _ _ _ _ _ G) by assumption; rewrite ?(g_states _ _ _ _ G) by assumption; reflexivity.
Qed.

Lemma node_below_grows T T' V V' n : grows T T' V V' -> node_below T n -> node_below T' n.
Proof.
  intros G B. destruct n; cbn [nval node_below] in *; repeat match goal with H : _ /\ _ |- _ => destruct H end; auto;
    repeat split; eauto using below_grows; destruct G; lia.
Qed.

Lemma nval_word V T n : tok V T -> node_below T n -> is_word (nval V n).
Proof.
  intros K B. destruct n; cbn [nval node_below] in *; repeat match goal with H : _ /\ _ |- _ => destruct H end.
  - apply apply_word; eapply oval_word; eassumption.
  - split; [lia | exact cd_short].
  - apply cdword_range, cd_bytes.
  - apply mload_range. exact (t_bytes _ _ K g).
  - apply keccak_word.
Qed.

(* A step: another table, and values for it. *)
Definition makes (T : table) (V : values) (r : operand * table) (z : Z) : Prop :=
  exists V', grows T (snd r) V V' /\ tok V' (snd r) /\ oval V' (fst r) = z /\ below (snd r) (fst r).

Lemma fresh_makes T V n : tok V T -> node_below T n -> makes T V (fresh T n) (nval V n).
Proof.
  intros K B. pose (V' := Values (fun i => if Pos.eqb i (next T) then nval V n else wv V i) (sv V)).
  assert (G : grows T (snd (fresh T n)) V V').
  { split; cbn; intros; [|reflexivity | lia]. destruct (Pos.eqb_spec i (next T)); [lia | reflexivity]. }
  exists V'. split; [exact G|]. split; [|split].
  - split; cbn -[M.find M.add]; intros.
    + destruct (Pos.eqb i (next T)); [eapply nval_word; eassumption | apply (t_words _ _ K)].
    + apply (t_bytes _ _ K).
    + rewrite F.add_o in H. destruct (PositiveMap.E.eq_dec (next T) i) as [E|E].
      * injection H as <-. unfold PositiveMap.E.eq in E. subst i. rewrite Pos.eqb_refl.
        split; [symmetry; eapply node_grows | eapply node_below_grows]; eassumption.
      * apply (t_nodes _ _ K) in H as [H N]. destruct (Pos.eqb_spec i (next T)) as [->|]; [exfalso; apply E; reflexivity|].
        split; [rewrite H; symmetry; eapply node_grows | eapply node_below_grows]; eassumption.
    + rewrite F.add_o in H. destruct (PositiveMap.E.eq_dec (next T) i) as [E|E].
      * unfold PositiveMap.E.eq in E. lia.
      * apply (t_next _ _ K) in H. lia.
    + apply (t_limits _ _ K) in H as [H L]. destruct (Pos.eqb_spec i (next T)); lia.
  - cbn. rewrite Pos.eqb_refl. reflexivity.
  - cbn. lia.
Qed.

(* Numbers are given once: a node in the table has one that has been given. *)
Lemma intern_makes T V n : tok V T -> node_below T n -> makes T V (intern T n) (nval V n).
Proof.
  intros K B. unfold intern. destruct (M.find (key n) (places T)) as [i|]; [|apply fresh_makes; assumption].
  destruct (M.find i (nodes T)) as [m|] eqn:E; [|apply fresh_makes; assumption].
  destruct (eqn m n && Pos.ltb i (next T)) eqn:Q; [|apply fresh_makes; assumption].
  apply andb_prop in Q as [Q L]. apply eqn_is in Q as ->. apply Pos.ltb_lt in L.
  exists V. split; [apply grows_refl|]. split; [exact K|]. split; [apply (t_nodes _ _ K), E | exact L].
Qed.

Lemma apply_turned f a b c : commutes f = true -> apply f b a c = apply f a b c.
Proof.
  destruct f; cbn; intros H; try discriminate;
    rewrite ?(Z.add_comm b), ?(Z.mul_comm b), ?(Z.land_comm b), ?(Z.lor_comm b), ?(Z.lxor_comm b), ?(Z.eqb_sym b); reflexivity.
Qed.

Lemma operation_makes T V f a b c : tok V T -> below T a -> below T b -> below T c ->
  makes T V (operation T f a b c) (apply f (oval V a) (oval V b) (oval V c)).
Proof.
  intros K A B C.
  assert (D : makes T V (if commutes f && negb (ordered a b) then intern T (NOp f b a c) else intern T (NOp f a b c))
    (apply f (oval V a) (oval V b) (oval V c))).
  { destruct (commutes f && _) eqn:E.
    - apply andb_prop in E as [E _]. rewrite <- (apply_turned f) by exact E. apply (intern_makes _ _ (NOp f b a c)); cbn; auto.
    - apply (intern_makes _ _ (NOp f a b c)); cbn; auto. }
  unfold operation. destruct a, b, c; try exact D.
  exists V. split; [apply grows_refl|]. split; [exact K|]. split; [reflexivity|]. cbn in *. apply apply_word; assumption.
Qed.

(* ---- bounds, conditions ---- *)

Lemma land_most x y : 0 <= x -> 0 <= y -> Z.land x y <= x.
Proof.
  intros X Y. assert (x = Z.land x y + Z.ldiff x y) as R.
  { rewrite Z.add_nocarry_lxor; apply Z.bits_inj'; intros k Hk;
      rewrite ?Z.lxor_spec, ?Z.land_spec, ?Z.ldiff_spec, ?Z.bits_0; destruct (Z.testbit x k), (Z.testbit y k); reflexivity. }
  assert (0 <= Z.ldiff x y) by (apply Z.ldiff_nonneg; left; exact X). lia.
Qed.

Lemma ones_most x m : 0 <= x -> (forall k, Z.log2 m < k -> Z.testbit x k = false) -> x <= 2 ^ (Z.log2 m + 1) - 1.
Proof.
  intros X H. pose proof (Z.log2_nonneg m). pose proof (Z.pow_pos_nonneg 2 (Z.log2 m + 1) ltac:(lia) ltac:(lia)).
  destruct (Z.eq_dec x 0) as [->|NZ]; [lia|].
  assert (L : Z.log2 x < Z.log2 m + 1).
  { destruct (Z.lt_ge_cases (Z.log2 x) (Z.log2 m + 1)) as [L|G]; [exact L|].
    pose proof (Z.bit_log2 x ltac:(lia)) as L. rewrite H in L by lia. discriminate. }
  apply Z.log2_lt_pow2 in L; lia.
Qed.

Lemma high_bits x m k : 0 <= x <= m -> Z.log2 m < k -> Z.testbit x k = false.
Proof. intros X L. apply Z.bits_above_log2; [lia|]. pose proof (Z.log2_le_mono x m). lia. Qed.

Lemma most_op f a b c x y : is_word a -> is_word b -> is_word c -> a <= x -> b <= y ->
  match f with
  | FAnd => apply f a b c <= Z.min x y
  | FMul => apply f a b c <= Z.min (W - 1) (x * y)
  | FAdd => apply f a b c <= Z.min (W - 1) (x + y)
  | FOr | FXor => apply f a b c <= 2 ^ (Z.log2 (Z.max x y) + 1) - 1
  | FByte => apply f a b c <= 255
  | FLt | FEq => apply f a b c <= 1
  | FMod => 0 < b -> apply f a b c <= b - 1
  | FShl => a < 256 -> apply f a b c <= Z.min (W - 1) (y * 2 ^ a)
  | FShr => apply f a b c <= if a <? 256 then Z.shiftr y a else 0
  | _ => True
  end.
Proof.
  intros A B C X Y. pose proof (apply_word f a b c A B C) as [P Q]. destruct A as [A A'], B as [B B'].
  destruct f; cbn [apply] in *; try exact I; try lia.
  - pose proof (Z.mod_le (a + b) W ltac:(lia) W_pos). lia.
  - pose proof (Z.mod_le (a * b) W ltac:(nia) W_pos). nia.
  - intros N. destruct (Z.eqb_spec b 0); [lia|]. pose proof (Z.mod_pos_bound a b N). lia.
  - destruct (a <? b); cbn; lia.
  - destruct (a =? b); cbn; lia.
  - pose proof (land_most a b A B). pose proof (land_most b a B A) as L. rewrite Z.land_comm in L. lia.
  - apply ones_most; [exact P|]. intros k L. rewrite Z.lor_spec, !(high_bits _ (Z.max x y)) by lia. reflexivity.
  - apply ones_most; [exact P|]. intros k L. rewrite Z.lxor_spec, !(high_bits _ (Z.max x y)) by lia. reflexivity.
  - intros N. unfold shifted_left in *. destruct (Z.ltb_spec a 256); [|lia].
    pose proof (Z.pow_pos_nonneg 2 a ltac:(lia) A). pose proof (Z.mod_le (b * 2 ^ a) W ltac:(nia) W_pos). nia.
  - destruct (a <? 256); [|lia]. rewrite !Z.shiftr_div_pow2 by exact A.
    apply Z.div_le_mono; [apply Z.pow_pos_nonneg; lia | exact Y].
  - unfold byte_at. destruct (a <? 32); [|lia]. pose proof (Z.mod_pos_bound (b / 256 ^ (31 - a)) 256 ltac:(lia)). lia.
Qed.

Lemma limit_bound T V i : tok V T -> wv V i <= limit T i.
Proof.
  intros K. unfold limit. destruct (M.find i (limits T)) as [z|] eqn:E; [apply (t_limits _ _ K _ _ E)|].
  pose proof (t_words _ _ K i) as [_ Q]. lia.
Qed.

Lemma most_bound n T V o : tok V T -> below T o -> oval V o <= most n T o.
Proof.
  intros K. revert o. induction n as [|n IH]; intros o B; pose proof (oval_word _ _ _ K B) as [P Q];
    (destruct o as [z|i]; [cbn; lia|]); cbn [most]; [lia|]. apply Z.min_glb; [apply limit_bound, K|].
  destruct (M.find i (nodes T)) as [m|] eqn:E; [|lia]. apply (t_nodes _ _ K) in E as [E N].
  destruct m as [f a b c| | | |]; try lia. cbn [nval node_below] in *. destruct N as (A & B' & C).
  pose proof (most_op f (oval V a) (oval V b) (oval V c) (most n T a) (most n T b)
    (oval_word _ _ _ K A) (oval_word _ _ _ K B') (oval_word _ _ _ K C) (IH a A) (IH b B')) as H.
  cbn [oval] in P, Q |- *. rewrite <- E in H. cbv beta iota in H. destruct f; cbv beta iota in H; try lia.
  - destruct b as [m|]; [|lia]. cbn [oval] in H. destruct (Z.ltb_spec 0 m); lia.
  - destruct a as [m|]; [|lia]. cbn [oval] in H. destruct (Z.leb_spec 0 m), (Z.ltb_spec m 256); cbn [andb]; lia.
  - destruct a as [m|]; [|lia]. exact H.
Qed.

Lemma truth_is n T V o t x : tok V T -> below T o -> truth n T o = (t, x) ->
  below T x /\ (oval V o =? 0) = if t then oval V x =? 0 else negb (oval V x =? 0).
Proof.
  intros K. revert o t x. induction n as [|n IH]; intros o t x B H; cbn [truth] in H;
    (destruct o as [z|i]; [injection H as <- <-; auto|]); [injection H as <- <-; auto|].
  destruct (M.find i (nodes T)) as [m|] eqn:E; [|injection H as <- <-; auto].
  pose proof E as E'. apply (t_nodes _ _ K) in E as [E N].
  destruct m as [f a b c| | | |]; try (injection H as <- <-; auto; fail).
  destruct f; try (injection H as <- <-; auto; fail). destruct a as [z|]; [|injection H as <- <-; auto].
  destruct z; try (injection H as <- <-; auto; fail).
  destruct (truth n T b) as [u y] eqn:R. injection H as <- <-. destruct N as (_ & B' & _).
  apply IH in R as [R S]; [|exact B']. split; [exact R|]. cbn [nval apply oval] in E |- *. rewrite E.
  rewrite (Z.eqb_sym 0), S. destruct u; cbn [negb]; destruct (oval V y =? 0); reflexivity.
Qed.

Lemma limited_is n T V o : tok V T -> below T o -> oval V o <> 0 ->
  tok V (limited n T o) /\ nodes (limited n T o) = nodes T /\ next (limited n T o) = next T.
Proof.
  revert T o. induction n as [|n IH]; intros T o K B H; [destruct o; auto|]. destruct o as [|i]; [auto|]. cbn [limited].
  destruct (M.find i (nodes T)) as [m|] eqn:E; [|auto]. apply (t_nodes _ _ K) in E as [E N].
  destruct m as [f a b c| | | |]; auto. cbn [nval node_below oval] in *. rewrite E in H. destruct N as (A & B' & C).
  destruct f; auto; cbn [apply] in H.
  - destruct a as [|j]; auto. destruct b as [z|]; auto. destruct (0 <? z); auto. cbn [oval] in *.
    destruct (Z.ltb_spec (wv V j) z) as [L|]; [|elim H; reflexivity]. split; [|auto]. destruct K. split; auto.
    cbn -[M.find M.add]. intros k y F. rewrite F.add_o in F. destruct (PositiveMap.E.eq_dec j k) as [<-|]; [|auto].
    injection F as <-. pose proof (limit_bound T V j ltac:(split; assumption)). split; [lia | exact A].
  - destruct (IH T a K A) as (K1 & N1 & X1); [intros Z; apply H; rewrite Z; apply Z.land_0_l|].
    assert (B1 : below (limited n T a) b) by (destruct b; cbn [below] in *; rewrite ?X1; exact B').
    destruct (IH _ b K1 B1) as (K2 & N2 & X2); [intros Z; apply H; rewrite Z; apply Z.land_0_r|].
    split; [exact K2|]. split; congruence.
Qed.

Local Opaque limited.

Lemma shifted_mask x m n n' : 0 <= x -> 0 <= n -> n <= n' -> 0 <= m ->
  Z.land (m * 2 ^ (n' - n)) (Z.shiftr x n) = Z.land m (Z.shiftr x n') * 2 ^ (n' - n).
Proof.
  intros X N L M. rewrite <- !Z.shiftl_mul_pow2 by lia. apply Z.bits_inj'. intros k Hk.
  rewrite Z.land_spec, !Z.shiftl_spec, Z.shiftr_spec, Z.land_spec by lia.
  destruct (Z.lt_ge_cases k (n' - n)); [rewrite !(Z.testbit_neg_r _ (k - (n' - n))) by lia; reflexivity|].
  rewrite Z.shiftr_spec by lia. do 2 f_equal. lia.
Qed.

Lemma given_is n T V c o d : tok V T -> below T o -> below T c -> given n T c (oval V c) o = Some d -> oval V o = d.
Proof.
  intros K. revert o d. induction n as [|n IH]; intros o d B C H; cbn [given] in H;
    (destruct (eqo o c) eqn:Q; [apply eqo_is in Q as ->; injection H as <-; reflexivity|]);
    (destruct o as [z|i]; [injection H as <-; reflexivity|]); [discriminate|].
  destruct (M.find i (nodes T)) as [m|] eqn:E; [|discriminate]. apply (t_nodes _ _ K) in E as [E N].
  destruct m as [f a b e| | | |]; try discriminate. destruct N as (A & B' & D). cbn [nval oval] in E |- *. rewrite E.
  assert (G : match given n T c (oval V c) a, given n T c (oval V c) b, given n T c (oval V c) e with
    | Some a, Some b, Some d => Some (apply f a b d) | _, _, _ => None end = Some d ->
    apply f (oval V a) (oval V b) (oval V e) = d).
  { destruct (given n T c (oval V c) a) as [a'|] eqn:Ea; [|discriminate].
    destruct (given n T c (oval V c) b) as [b'|] eqn:Eb; [|discriminate].
    destruct (given n T c (oval V c) e) as [e'|] eqn:Ee; [|discriminate].
    intros R. injection R as <-. rewrite (IH _ _ A C Ea), (IH _ _ B' C Eb), (IH _ _ D C Ee). reflexivity. }
  destruct f; try (exact (G H)). destruct a as [m|]; [|exact (G H)]. destruct b as [|j]; [exact (G H)|]. clear G.
  destruct (M.find j (nodes T)) as [q|] eqn:Ej; [|discriminate]. apply (t_nodes _ _ K) in Ej as [Ej Nj].
  destruct q as [f' x y w| | | |]; try discriminate. destruct f'; try discriminate. destruct x as [s|]; [|discriminate].
  destruct c as [|i']; [discriminate|].
  destruct (M.find i' (nodes T)) as [q|] eqn:Ei; [|discriminate]. apply (t_nodes _ _ K) in Ei as [Ei Ni].
  destruct q as [f' x' y' w'| | | |]; try discriminate. destruct f'; try discriminate. destruct x' as [m'|]; [|discriminate].
  destruct y' as [|j']; [discriminate|].
  destruct (M.find j' (nodes T)) as [q|] eqn:Ek; [|discriminate]. apply (t_nodes _ _ K) in Ek as [Ek Nk].
  destruct q as [f' x'' y'' w''| | | |]; try discriminate. destruct f'; try discriminate. destruct x'' as [s'|]; [|discriminate].
  destruct (_ && _) eqn:R; [|discriminate]. injection H as <-. splits.
  repeat match goal with
  | H : eqo _ _ = true |- _ => apply eqo_is in H | H : (_ <=? _) = true |- _ => apply Z.leb_le in H
  | H : (_ <? _) = true |- _ => apply Z.ltb_lt in H | H : (_ =? _) = true |- _ => apply Z.eqb_eq in H end. subst.
  cbn [nval apply oval node_below] in *. rewrite Ei, Ej, Ek. destruct Nj as (_ & Nj & _).
  rewrite (proj2 (Z.ltb_lt s 256)), (proj2 (Z.ltb_lt s' 256)) by lia.
  apply shifted_mask; try assumption. apply (oval_word _ _ _ K Nj).
Qed.

Lemma greatest_bound T V o : tok V T -> below T o -> oval V o <= greatest T o.
Proof. exact (most_bound 8 T V o). Qed.
Local Opaque greatest.

Lemma has_room_is T V n a size : tok V T -> below T a -> has_room T n a size = true -> inside n (oval V a) size = true.
Proof.
  intros K B H. unfold has_room in H. splits. apply Z.leb_le in H, H0. unfold inside.
  pose proof (greatest_bound _ _ _ K B). pose proof (oval_word _ _ _ K B) as [P _].
  repeat (rewrite (proj2 (Z.leb_le _ _)) by lia). reflexivity.
Qed.

(* Memory of code is never longer than what is paid for. *)
Lemma cmem_le a b : 0 <= a <= b -> cmem a <= cmem b.
Proof. intros H. unfold cmem. pose proof (Z.div_le_mono (a * a) (b * b) 512 ltac:(lia) ltac:(nia)). lia. Qed.
Lemma grown_le mw mw' a n : mw <= mw' -> mw <= grown mw a n <= grown mw' a n.
Proof. intros H. unfold grown. destruct (n =? 0); lia. Qed.

Lemma reach_is T V mw0 mw a n mw' : tok V T -> below T a -> reach T mw a n = Some mw' -> mw0 <= mw -> grown mw0 (oval V a) n <= mw'.
Proof.
  intros K B H L0. apply Z.le_trans with (grown mw (oval V a) n); [apply grown_le, L0|].
  destruct a as [z|i]; cbn [reach] in H; [injection H as <-; cbn; lia|].
  destruct (Z.leb_spec (grown mw (greatest T (Atom i)) n) mw) as [L|]; [|discriminate]. injection H as <-.
  pose proof (greatest_bound _ _ _ K B) as M. unfold grown in *. destruct (n =? 0); [lia|].
  unfold words in *. pose proof (Z.div_le_mono (oval V (Atom i) + n + 31) (greatest T (Atom i) + n + 31) 32). lia.
Qed.

(* ---- the program ---- *)

(* Words and scratch memory of the program, by number. *)
Record follows (T : table) (V : values) (s : sym) (P : bytes_state) : Prop := Follows {
  f_known : Forall (fun '(w, o) => bw P w = oval V o /\ below T o) (known s);
  f_gen : (gen s < next T)%positive;
  f_state : forall x, sv V (gen s) x = bm P x;
  f_room : bn P = room s }.

Lemma follows_grows T T' V V' s P : grows T T' V V' -> follows T V s P -> follows T' V' s P.
Proof.
  intros G [A B C D]. split.
  - eapply Forall_impl; [|exact A]. intros [w o] [E L]. split; [rewrite E; symmetry; eapply oval_grows | eapply below_grows]; eassumption.
  - destruct G; lia.
  - intros x. rewrite (g_states _ _ _ _ G) by exact B. apply C.
  - exact D.
Qed.

Lemma makes_after T V T' V' r z : grows T T' V V' -> makes T' V' r z -> makes T V r z.
Proof. intros G (V'' & G' & R). exists V''. split; [eapply grows_trans; eassumption | exact R]. Qed.

Lemma lookup_in {A} w l (o : A) : lookup w l = Some o -> In (w, o) l.
Proof.
  induction l as [|[v p] l IH]; cbn; [discriminate|]. destruct (Pos.eqb_spec v w) as [->|]; intros H.
  - injection H as ->. auto.
  - auto.
Qed.

Lemma mload_same_bytes m m' a : (forall x, m x = m' x) -> mload m a = mload m' a.
Proof. intros E. unfold mload. f_equal. apply mbytes_ext. intros; apply E. Qed.

Lemma interp_makes s x T V P o T' : tok V T -> follows T V s P -> interp s T x = Some (o, T') ->
  exists V', grows T T' V V' /\ tok V' T' /\ below T' o /\ value cd P x = Some (oval V' o).
Proof.
  intros K. revert T V o T' K. induction x as [n| |x IH|x IH|w|f a IHa b IHb c IHc]; intros T V o T' K L H; cbn [interp] in H.
  - destruct (_ && _) eqn:B; [|discriminate]. injection H as <- <-. splits. apply Z.leb_le in H. apply Z.ltb_lt in H0.
    exists V. split; [apply grows_refl|]. split; [exact K|]. split; [split; assumption | reflexivity].
  - injection H as H. destruct (intern_makes T V NSize K I) as (V' & G & K' & E & B). rewrite H in *. cbn [fst snd] in *.
    exists V'. split; [exact G|]. split; [exact K'|]. split; [exact B|]. cbn [value]. rewrite E. reflexivity.
  - destruct (interp s T x) as [[a T1]|] eqn:E1; [|discriminate]. injection H as H.
    destruct (IH _ _ _ _ K L E1) as (V1 & G1 & K1 & B1 & X).
    destruct (intern_makes T1 V1 (NCalldata a) K1 B1) as (V' & G & K' & E & B). rewrite H in *. cbn [fst snd] in *.
    exists V'. split; [eapply grows_trans; eassumption|]. split; [exact K'|]. split; [exact B|].
    cbn [value]. rewrite X, E. reflexivity.
  - destruct (interp s T x) as [[a T1]|] eqn:E1; [|discriminate].
    destruct (has_room T1 (room s) a 32) eqn:R; [|discriminate]. injection H as H.
    destruct (IH _ _ _ _ K L E1) as (V1 & G1 & K1 & B1 & X). pose proof (follows_grows _ _ _ _ _ _ G1 L) as L1.
    destruct (intern_makes T1 V1 (NScratch (gen s) a) K1) as (V' & G & K' & E & B); [split; [apply L1 | exact B1]|].
    rewrite H in *. cbn [fst snd] in *.
    exists V'. split; [eapply grows_trans; eassumption|]. split; [exact K'|]. split; [exact B|].
    cbn [value]. rewrite X, (f_room _ _ _ _ L1), (has_room_is _ _ _ _ _ K1 B1 R), E. cbn [nval].
    rewrite (mload_same_bytes _ _ _ (f_state _ _ _ _ L1)). reflexivity.
  - destruct (lookup w (known s)) as [p|] eqn:E; [|discriminate]. injection H as <- <-. apply lookup_in in E.
    pose proof (f_known _ _ _ _ L) as A. rewrite Forall_forall in A. apply A in E as [E B].
    exists V. split; [apply grows_refl|]. split; [exact K|]. split; [exact B|]. cbn [value]. rewrite E. reflexivity.
  - destruct (interp s T a) as [[a' T1]|] eqn:E1; [|discriminate]. destruct (IHa _ _ _ _ K L E1) as (V1 & G1 & K1 & B1 & X1).
    pose proof (follows_grows _ _ _ _ _ _ G1 L) as L1.
    destruct (interp s T1 b) as [[b' T2]|] eqn:E2; [|discriminate]. destruct (IHb _ _ _ _ K1 L1 E2) as (V2 & G2 & K2 & B2 & X2).
    pose proof (follows_grows _ _ _ _ _ _ G2 L1) as L2.
    destruct (interp s T2 c) as [[c' T3]|] eqn:E3; [|discriminate]. destruct (IHc _ _ _ _ K2 L2 E3) as (V3 & G3 & K3 & B3 & X3).
    injection H as H. pose proof (below_grows _ _ _ _ _ G2 B1) as B12. pose proof (below_grows _ _ _ _ _ G3 B12) as B13.
    pose proof (below_grows _ _ _ _ _ G3 B2) as B23.
    destruct (operation_makes T3 V3 f a' b' c' K3 B13 B23 B3) as (V' & G & K' & E & B). rewrite H in *. cbn [fst snd] in *.
    exists V'. split; [eapply grows_trans; [exact G1|]; eapply grows_trans; [exact G2|]; eapply grows_trans; eassumption|].
    split; [exact K'|]. split; [exact B|]. cbn [value]. rewrite X1, X2, X3, E.
    rewrite (oval_grows _ _ _ _ _ G3 B2), (oval_grows _ _ _ _ _ G3 B12), (oval_grows _ _ _ _ _ G2 B1). reflexivity.
Qed.

(* ---- code ---- *)

Definition beside (x : Z) (l : list (Z * operand)) : Prop := Forall (fun '(a, _) => x < a \/ a + 32 <= x) l.
Definition cell_ok (T : table) (V : values) (s : sym) (m : memory) '((a, o) : Z * operand) : Prop :=
  0 <= a /\ room s <= a /\ mload m a = oval V o /\ below T o.

Record inv (V : values) (s : sym) (P : bytes_state) (S : state) : Prop := Inv {
  i_tok : tok V (tb s);
  i_follows : follows (tb s) V s P;
  i_stack : stack S = map (oval V) (stk s);
  i_below : Forall (below (tb s)) (stk s);
  i_cells : Forall (cell_ok (tb s) V s (mem S)) (cells s);
  i_mem : forall x, beside x (cells s) -> mem S x = bm P x;
  i_bytes : forall x, is_byte (mem S x);
  i_words : 0 <= mwords S <= smw s;
  i_budget : 0 <= bt P;
  i_pc : pc S = Z.to_nat (at_ s) /\ 0 <= at_ s /\ rest s = skipn (pc S) code;
  i_room : 0 <= room s }.

(* Gas beside that of memory that is paid for and turns that may still be taken. *)
Definition free (s : sym) (P : bytes_state) (S : state) : Z := gas S + cmem (mwords S) - cmem (smw s) - turn * bt P.

Lemma free_gas V s P S : inv V s P S -> free s P S <= gas S.
Proof.
  intros I. unfold free. pose proof (cmem_le _ _ (i_words _ _ _ _ I)). pose proof (i_budget _ _ _ _ I). nia.
Qed.
(* An instruction that makes memory longer. *)
Lemma free_grown V s P S mw mw' c : inv V s P S -> mwords S <= mw -> mw <= mw' -> c + (cmem mw' - cmem (smw s)) <= free s P S ->
  c + (cmem mw - cmem (mwords S)) <= gas S.
Proof.
  intros I A B L. unfold free in L. pose proof (i_words _ _ _ _ I). pose proof (cmem_le mw mw' ltac:(lia)). pose proof (i_budget _ _ _ _ I). nia.
Qed.

Notation bstep := (byte_step keccak code cd).

Lemma plain_step S i n cost k m mw p : byte_decode (skipn (pc S) code) = None -> decode (skipn (pc S) code) = (i, n) ->
  exec code cd i (pc S + n) (stack S) (mem S) (mwords S) = (cost, Go k m mw p) ->
  cost <= gas S -> Z.of_nat (length k) <= 1024 -> bstep S = Next (State k m mw p (gas S - cost)).
Proof.
  intros D E X G L. unfold byte_step. rewrite D. unfold step. rewrite E, X.
  rewrite (proj2 (Z.ltb_ge _ _)), (proj2 (Z.ltb_ge _ _)) by lia. reflexivity.
Qed.

Lemma more_step S i cost k m mw p : byte_decode (skipn (pc S) code) = Some i ->
  byte_exec keccak cd i (pc S + 1) (stack S) (mem S) (mwords S) = (cost, Go k m mw p) ->
  cost <= gas S -> Z.of_nat (length k) <= 1024 -> bstep S = Next (State k m mw p (gas S - cost)).
Proof.
  intros D X G L. unfold byte_step. rewrite D, X.
  rewrite (proj2 (Z.ltb_ge _ _)), (proj2 (Z.ltb_ge _ _)) by lia. reflexivity.
Qed.

(* The next state of the code, with a state of the checker. *)
Definition moves (V : values) (s : sym) (P : bytes_state) (S : state) (s' : sym) (cost : Z) : Prop :=
  exists V' S', bstep S = Next S' /\ inv V' s' P S' /\ free s' P S' = free s P S - cost /\ grows (tb s) (tb s') V V'.

Lemma cells_grow T T' V V' s m l : grows T T' V V' -> Forall (cell_ok T V s m) l -> Forall (cell_ok T' V' s m) l.
Proof.
  intros G A. eapply Forall_impl; [|exact A]. intros [a o] (X & Y & Z & B).
  split; [exact X|]. split; [exact Y|]. split; [rewrite Z; symmetry; eapply oval_grows | eapply below_grows]; eassumption.
Qed.

Lemma map_grows T T' V V' l : grows T T' V V' -> Forall (below T) l -> map (oval V') l = map (oval V) l.
Proof. intros G B. induction B; cbn; [reflexivity|]. rewrite (oval_grows _ _ _ _ _ G) by assumption. congruence. Qed.

Lemma below_all T T' V V' l : grows T T' V V' -> Forall (below T) l -> Forall (below T') l.
Proof. intros G B. eapply Forall_impl; [|exact B]. intros o; apply (below_grows _ _ _ _ _ G). Qed.

(* Code goes on with another stack; memory is as it was. *)
Lemma inv_onward V s P S T' V' k n mw mw' g : inv V s P S -> grows (tb s) T' V V' -> tok V' T' -> Forall (below T') k -> 0 <= mw <= mw' ->
  inv V' (onward s n k (cells s) mw' T') P (State (map (oval V') k) (mem S) mw (pc S + n) g).
Proof.
  intros I G K B MW. destruct I. destruct i_pc0 as (E & N & R). split; cbn [tb stk cells smw at_ rest room stack mem mwords pc onward]; auto.
  - apply (follows_grows _ _ _ _ _ _ G) in i_follows0. destruct i_follows0. split; assumption.
  - apply (cells_grow _ _ _ _ _ _ _ G) in i_cells0. exact i_cells0.
  - split; [rewrite E; lia|]. split; [lia|].
    rewrite R, skipn_skipn'. reflexivity.
Qed.

(* A word takes the place of some on the stack. *)
Lemma pushed_moves V s P S i n cost k r s' c z : inv V s P S -> byte_decode (rest s) = None -> decode (rest s) = (i, n) ->
  exec code cd i (pc S + n) (stack S) (mem S) (mwords S) = (cost, Go (z :: map (oval V) k) (mem S) (mwords S) (pc S + n)) ->
  makes (tb s) V r z -> Forall (below (tb s)) k -> pushed s cost n k r = Some (s', c) ->
  c <= free s P S -> Z.of_nat (length (stk s')) <= 1024 -> moves V s P S s' c.
Proof.
  intros I D E X (V' & G & K & Z & B) A H L N. injection H as <- <-. pose proof (i_pc _ _ _ _ I) as (_ & _ & R).
  rewrite R in D, E. pose proof (map_grows _ _ _ _ _ G A) as Q.
  pose proof (free_gas _ _ _ _ I).
  exists V', (State (map (oval V') (fst r :: k)) (mem S) (mwords S) (pc S + n) (gas S - cost)).
  split; [|split; [|split]].
  - cbn [map]. rewrite Z, Q. apply (plain_step S i n); auto; [lia|]. cbn in *. rewrite map_length. exact N.
  - apply inv_onward with V; auto; [constructor; [exact B | eapply below_all; eassumption] | apply I].
  - unfold free. cbn [gas mwords onward smw]. lia.
  - exact G.
Qed.

Lemma pushed_more V s P S i cost k r s' c z : inv V s P S -> byte_decode (rest s) = Some i ->
  byte_exec keccak cd i (pc S + 1) (stack S) (mem S) (mwords S) = (cost, Go (z :: map (oval V) k) (mem S) (mwords S) (pc S + 1)) ->
  makes (tb s) V r z -> Forall (below (tb s)) k -> pushed s cost 1 k r = Some (s', c) ->
  c <= free s P S -> Z.of_nat (length (stk s')) <= 1024 -> moves V s P S s' c.
Proof.
  intros I D X (V' & G & K & Z & B) A H L N. injection H as <- <-. pose proof (i_pc _ _ _ _ I) as (_ & _ & R).
  rewrite R in D. pose proof (map_grows _ _ _ _ _ G A) as Q.
  pose proof (free_gas _ _ _ _ I).
  exists V', (State (map (oval V') (fst r :: k)) (mem S) (mwords S) (pc S + 1) (gas S - cost)).
  split; [|split; [|split]].
  - cbn [map]. rewrite Z, Q. apply (more_step S i); auto; [lia|]. cbn in *. rewrite map_length. exact N.
  - apply inv_onward with V; auto; [constructor; [exact B | eapply below_all; eassumption] | apply I].
  - unfold free. cbn [gas mwords onward smw]. lia.
  - exact G.
Qed.

(* The same words, in another order or fewer. *)
Lemma same_moves V s P S i n cost k : inv V s P S -> byte_decode (rest s) = None -> decode (rest s) = (i, n) ->
  exec code cd i (pc S + n) (stack S) (mem S) (mwords S) = (cost, Go (map (oval V) k) (mem S) (mwords S) (pc S + n)) ->
  Forall (below (tb s)) k -> cost <= free s P S -> Z.of_nat (length k) <= 1024 ->
  moves V s P S (onward s n k (cells s) (smw s) (tb s)) cost.
Proof.
  intros I D E X A L N. pose proof (i_pc _ _ _ _ I) as (_ & _ & R). rewrite R in D, E.
  pose proof (free_gas _ _ _ _ I).
  exists V, (State (map (oval V) k) (mem S) (mwords S) (pc S + n) (gas S - cost)). split; [|split; [|split]].
  - apply (plain_step S i n); auto; [lia|]. rewrite map_length. exact N.
  - apply inv_onward with V; auto; [apply grows_refl | apply I | apply I].
  - unfold free. cbn [gas mwords onward smw]. lia.
  - apply grows_refl.
Qed.

Lemma makes_same V T o : tok V T -> below T o -> makes T V (o, T) (oval V o).
Proof. intros K B. exists V. split; [apply grows_refl|]. auto. Qed.

Lemma cell_in a l o : cell a l = Some o -> In (a, o) l.
Proof.
  induction l as [|[b p] l IH]; cbn; [discriminate|]. destruct (Z.eqb_spec b a) as [->|]; intros H; [injection H as ->|]; auto.
Qed.

Lemma below_upd T n o l : below T o -> Forall (below T) l -> Forall (below T) (upd n o l).
Proof. intros B A. revert n. induction A; intros [|n]; cbn; auto. Qed.

Lemma map_upd V n o l : map (oval V) (upd n o l) = upd n (oval V o) (map (oval V) l).
Proof. revert n. induction l as [|p l IH]; intros [|n]; cbn; auto. rewrite IH. reflexivity. Qed.

Lemma below_nth T l n o : nth_error l n = Some o -> Forall (below T) l -> below T o.
Proof. intros H A. rewrite Forall_forall in A. apply A. eapply nth_error_In. eassumption. Qed.

(* A read of scratch memory. *)
Lemma scratch_is V s P S a n : inv V s P S -> below (tb s) a -> has_room (tb s) (room s) a n = true ->
  forall x, oval V a <= x < oval V a + n -> mem S x = sv V (gen s) x.
Proof.
  intros I B R x X. apply (has_room_is _ V) in R; [|apply I|exact B]. unfold inside in R. splits.
  repeat match goal with H : (_ <=? _) = true |- _ => apply Z.leb_le in H end.
  rewrite (f_state _ _ _ _ (i_follows _ _ _ _ I)). apply (i_mem _ _ _ _ I). pose proof (i_cells _ _ _ _ I) as C.
  eapply Forall_impl; [|exact C]. intros [b o] (_ & Q & _). lia.
Qed.

Lemma reach_pays V s P S a n mw : inv V s P S -> below (tb s) a -> reach (tb s) (smw s) a n = Some mw ->
  0 <= mwords S <= grown (mwords S) (oval V a) n /\ grown (mwords S) (oval V a) n <= mw.
Proof.
  intros I B R. pose proof (i_words _ _ _ _ I) as [N L]. pose proof (grown_le (mwords S) (mwords S) (oval V a) n ltac:(lia)).
  split; [lia|]. eapply reach_is; [apply I | exact B | exact R | exact L].
Qed.

Lemma put_cells T V s m a o l : 0 <= a -> room s <= a -> is_word (oval V o) -> below T o -> apart a l = true ->
  Forall (cell_ok T V s m) l -> Forall (cell_ok T V s (mstore m a (oval V o))) (put a o l).
Proof.
  intros X Y Q B A L. assert (N : cell_ok T V s (mstore m a (oval V o)) (a, o)) by (repeat split; auto using mload_same; apply B).
  assert (R : Forall (cell_ok T V s (mstore m a (oval V o))) (map (fun '(b, p) => if b =? a then (b, o) else (b, p)) l)).
  { induction L as [|[b p] l (X' & Y' & E & B') L IH]; cbn [map]; constructor; cbn [apart forallb] in A; apply andb_prop in A as [A A'].
    - destruct (Z.eqb_spec b a) as [->|D]; [exact N|]. cbn [orb] in A.
      split; [exact X'|]. split; [exact Y'|]. split; [|exact B'].
      rewrite mload_other; [exact E|]. apply orb_prop in A as [A|A]; apply Z.leb_le in A; lia.
    - apply IH, A'. }
  unfold put. destruct (existsb _ l) eqn:E; [exact R|]. apply Forall_app. split; [|constructor; [exact N | constructor]].
  rewrite <- (map_id l). erewrite map_ext_in; [exact R|]. intros [b p] I. cbn.
  destruct (Z.eqb_spec b a) as [->|]; [|reflexivity]. exfalso.
  assert (existsb (fun '(b, _) => b =? a) l = true) as F by (apply existsb_exists; exists (a, p); split; [exact I | apply Z.eqb_refl]).
  rewrite E in F. discriminate.
Qed.

Lemma put_beside x a o l : beside x (put a o l) -> (x < a \/ a + 32 <= x) /\ beside x l.
Proof.
  unfold put, beside. rewrite !Forall_forall. destruct (existsb _ l) eqn:E; intros H.
  - assert (R : forall b p, In (b, p) l -> x < b \/ b + 32 <= x).
    { intros b p I. pose proof (in_map (fun '(b, p) => if b =? a then (b, o) else (b, p)) _ _ I) as J. cbn beta iota in J.
      destruct (b =? a); exact (H _ J). }
    split; [|intros [b p]; apply R]. apply existsb_exists in E as ([b p] & I & E). apply Z.eqb_eq in E as ->. eapply R, I.
  - split; [apply (H (a, o)), in_or_app; right; left; reflexivity|]. intros [b p] I. apply (H (b, p)), in_or_app. auto.
Qed.

Lemma byte_silent_moves V s P S i s' c : inv V s P S -> byte_decode (rest s) = Some i -> byte_silent i s = Some (s', c) ->
  c <= free s P S -> Z.of_nat (length (stk s')) <= 1024 -> moves V s P S s' c.
Proof.
  intros I D H L N. pose proof (i_stack _ _ _ _ I) as K. pose proof (i_below _ _ _ _ I) as B. pose proof (i_tok _ _ _ _ I) as T.
  unfold byte_silent in H. destruct i; try discriminate; destruct (stk s) as [|a [|b r]] eqn:E; try discriminate;
    try (inversion B as [|? ? A B1]; subst; inversion B1 as [|? ? A' B2]; subst).
  - refine (pushed_more _ _ _ _ _ _ _ _ _ _ _ I D _ (operation_makes _ _ FXor a b (Num 0) T A A' _) B2 H L N);
      [rewrite K; reflexivity | split; [lia | reflexivity]].
  - refine (pushed_more _ _ _ _ _ _ _ _ _ _ _ I D _ (operation_makes _ _ FByte a b (Num 0) T A A' _) B2 H L N);
      [rewrite K; reflexivity | split; [lia | reflexivity]].
  - refine (pushed_more _ _ _ _ _ _ _ _ _ _ _ I D _ (operation_makes _ _ FShl a b (Num 0) T A A' _) B2 H L N);
      [rewrite K; reflexivity | split; [lia | reflexivity]].
  - destruct b as [n|]; [|discriminate]. destruct (has_room (tb s) (room s) a n) eqn:R; [|discriminate].
    destruct (reach (tb s) (smw s) a n) as [mw|] eqn:Q; [|discriminate].
    destruct (intern_makes (tb s) V (NHash (gen s) a (Num n)) T) as (V' & G & T' & Z & Z').
    { split; [apply I|]. split; assumption. }
    destruct (intern (tb s) (NHash (gen s) a (Num n))) as [o T1] eqn:J. cbn [fst snd] in *. apply some_pair in H as [<- <-].
    pose proof (reach_pays _ _ _ _ _ _ _ I A Q) as GR. pose proof (map_grows _ _ _ _ _ G B2) as MG.
    pose proof (i_pc _ _ _ _ I) as (_ & _ & RE). rewrite RE in D.
    eexists V', _. split; [|split; [|split]].
    + apply (more_step S KECCAK256) with (cost := 30 + 6 * words n + (cmem (grown (mwords S) (oval V a) n) - cmem (mwords S))); [exact D | rewrite K; cbn [map byte_exec oval]; reflexivity | eapply free_grown; [exact I | apply GR | apply GR | exact L] |].
      cbn in *. rewrite map_length. exact N.
    + cbn [nval oval] in Z.
      assert (ME : mbytes (mem S) (oval V a) (Z.to_nat n) = mbytes (sv V (gen s)) (oval V a) (Z.to_nat n)).
      { apply mbytes_ext. intros x X. apply (scratch_is V s P S a n); auto. destruct A' as [A' _]. lia. }
      rewrite ME, <- Z, <- MG. apply (inv_onward V s P S T1 V' (o :: r)); auto; [constructor; [exact Z' | eapply below_all; eassumption] | lia].
    + unfold free. cbn [gas mwords onward smw]. lia.
    + exact G.
Qed.

Lemma jump_is s d k s' : jump code s d k = Some s' ->
  s' = Sym (tb s) d (skipn (Z.to_nat d) code) k (cells s) (known s) (gen s) (room s) (smw s) /\ 0 <= d /\ valid code d = true.
Proof.
  unfold jump. destruct (_ && _) eqn:E; [|discriminate]. intros H. injection H as <-. splits. apply Z.leb_le in H. auto.
Qed.

Lemma inv_place V s P S d k g : inv V s P S -> 0 <= d -> Forall (below (tb s)) k ->
  inv V (Sym (tb s) d (skipn (Z.to_nat d) code) k (cells s) (known s) (gen s) (room s) (smw s)) P
    (State (map (oval V) k) (mem S) (mwords S) (Z.to_nat d) g).
Proof.
  intros I D B. destruct I. split; cbn [tb stk cells smw at_ rest room stack mem mwords pc]; auto.
  destruct i_follows0. split; assumption.
Qed.

Lemma some_is {A} (a b : A) : Some a = Some b -> a = b.
Proof. intros H. injection H as ->. reflexivity. Qed.

Lemma beZ_both l r : beZ (l ++ r) = beZ l * 256 ^ Z.of_nat (length r) + beZ r.
Proof.
  induction r as [|b r IH] using rev_ind; [rewrite app_nil_r; cbn; lia|].
  rewrite app_assoc, !beZ_app, IH, app_length. cbn [length]. replace (length r + 1)%nat with (Datatypes.S (length r)) by lia.
  rewrite pow256_S. ring.
Qed.

Lemma lor_parts x y n : 0 <= n -> 0 <= y < 2 ^ n -> Z.lor (x * 2 ^ n) y = x * 2 ^ n + y.
Proof.
  intros N Y.
  assert (D : Z.land (x * 2 ^ n) y = 0).
  { apply Z.bits_inj'. intros k K. rewrite Z.land_spec, Z.bits_0. destruct (Z.lt_ge_cases k n) as [L|L].
    - rewrite Z.mul_pow2_bits_low by exact L. reflexivity.
    - rewrite <- (Z.mod_small y (2 ^ n)) by exact Y. rewrite (Z.mod_pow2_bits_high y n k) by lia. apply andb_false_r. }
  rewrite Z.add_nocarry_lxor by exact D. symmetry. apply Z.lxor_lor, D.
Qed.

(* A word across two that touch. *)
Lemma mload_across m b k : (forall x, is_byte (m x)) -> 0 < k < 32 ->
  mload m (b + k) = Z.lor (shifted_left (8 * k) (mload m b)) (Z.shiftr (mload m (b + 32)) (256 - 8 * k)).
Proof.
  intros M [K K']. set (n := Z.to_nat k). set (j := Z.to_nat (32 - k)).
  assert (N : Z.of_nat n = k) by (apply Z2Nat.id; lia). assert (J : Z.of_nat j = 32 - k) by (apply Z2Nat.id; lia).
  pose proof (beZ_range _ (mbytes_bytes m (b + k) j M)) as RB. pose proof (beZ_range _ (mbytes_bytes m (b + 32) n M)) as RC.
  pose proof (beZ_range _ (mbytes_bytes m (b + 32 + k) j M)) as RD. rewrite mbytes_length in RB, RC, RD.
  assert (E : mload m b = beZ (mbytes m b n) * 256 ^ Z.of_nat j + beZ (mbytes m (b + k) j)).
  { unfold mload. replace 32%nat with (n + j)%nat by lia. rewrite mbytes_app, beZ_both, mbytes_length, N. reflexivity. }
  assert (E' : mload m (b + 32) = beZ (mbytes m (b + 32) n) * 256 ^ Z.of_nat j + beZ (mbytes m (b + 32 + k) j)).
  { unfold mload. replace 32%nat with (n + j)%nat at 1 by lia. rewrite mbytes_app, beZ_both, mbytes_length, N. reflexivity. }
  assert (E2 : mload m (b + k) = beZ (mbytes m (b + k) j) * 256 ^ Z.of_nat n + beZ (mbytes m (b + 32) n)).
  { unfold mload. replace 32%nat with (j + n)%nat at 1 by lia. rewrite mbytes_app, beZ_both, mbytes_length, J.
    replace (b + k + (32 - k)) with (b + 32) by lia. reflexivity. }
  assert (P : forall i, 0 <= i -> 2 ^ (8 * i) = 256 ^ i) by (intros i I; rewrite Z.pow_mul_r by lia; reflexivity).
  replace (256 - 8 * k) with (8 * (32 - k)) by lia. rewrite E', E2. unfold shifted_left. rewrite (proj2 (Z.ltb_lt _ _)) by lia.
  rewrite Z.shiftr_div_pow2, !P, <- J, Z.div_add_l, (Z.div_small (beZ (mbytes m (b + 32 + k) j))), Z.add_0_r by lia.
  replace (mload m b * 256 ^ k mod W) with (beZ (mbytes m (b + k) j) * 2 ^ (8 * k)).
  - rewrite lor_parts, P, N by (rewrite ?P, <- ?N; lia). reflexivity.
  - rewrite E, P by lia. assert (WE : W = 256 ^ k * 256 ^ Z.of_nat j) by (rewrite <- Z.pow_add_r, J by lia; replace (k + (32 - k)) with 32 by lia; reflexivity).
    symmetry. rewrite Z.mul_comm, WE, Z.mul_mod_distr_l, (Z.add_comm (_ * _)), Z.mod_add, Z.mod_small by lia. ring.
Qed.

Lemma kept_makes V s P S z o T : inv V s P S -> below (tb s) (Num z) -> kept (tb s) z (cells s) = Some (o, T) ->
  makes (tb s) V (o, T) (mload (mem S) z).
Proof.
  intros I B H. pose proof (i_tok _ _ _ _ I) as K. pose proof (i_cells _ _ _ _ I) as CS. rewrite Forall_forall in CS.
  assert (C : forall a p, cell a (cells s) = Some p -> mload (mem S) a = oval V p /\ below (tb s) p)
    by (intros a p X; apply cell_in, CS in X as (_ & _ & X); exact X).
  unfold kept in H. destruct (cell z (cells s)) as [p|] eqn:E.
  - injection H as <- <-. destruct (C _ _ E) as [-> X]. apply makes_same; assumption.
  - destruct (find _ _) as [[b x]|] eqn:F; [|discriminate]. apply find_some in F as [F R]. splits. apply Z.ltb_lt in H0, H1.
    apply CS in F as (B0 & _ & X & BX). destruct (cell (b + 32) (cells s)) as [y|] eqn:E'; [|discriminate]. destruct (C _ _ E') as [Y BY].
    assert (BN : forall w, 0 <= w <= 256 -> below (tb s) (Num w)) by (intros w Q; split; [lia | rewrite W_two; lia]).
    pose proof (BN 0 ltac:(lia)) as BZ.
    destruct (operation_makes _ _ FShl (Num (8 * (z - b))) x (Num 0) K (BN (8 * (z - b)) ltac:(lia)) BX BZ) as (V1 & G1 & K1 & E1 & B1).
    destruct (operation _ FShl _ _ _) as [p T1]. cbn [fst snd] in *. pose proof (below_grows _ _ _ _ _ G1 BY) as BY1.
    pose proof (BN (256 - 8 * (z - b)) ltac:(lia)) as BS.
    destruct (operation_makes _ _ FShr (Num (256 - 8 * (z - b))) y (Num 0) K1 BS BY1 BZ) as (V2 & G2 & K2 & E2 & B2).
    destruct (operation _ FShr _ _ _) as [q T2]. cbn [fst snd] in *. pose proof (below_grows _ _ _ _ _ G2 B1) as B12.
    apply (makes_after _ _ _ _ _ _ (grows_trans _ _ _ _ _ _ G1 G2)). apply some_is in H. rewrite <- H.
    replace (mload (mem S) z) with (apply FOr (oval V2 p) (oval V2 q) (oval V2 (Num 0))); [apply operation_makes; assumption|].
    rewrite (oval_grows _ _ _ _ _ G2 B1), E1, E2, (oval_grows _ _ _ _ _ G1 BY). cbn [apply oval]. rewrite <- X, <- Y.
    rewrite (proj2 (Z.ltb_lt (256 - _) 256)) by lia.
    rewrite <- mload_across by (try apply (i_bytes _ _ _ _ I); lia). f_equal. lia.
Qed.

Lemma silent_moves V s P S s' c : inv V s P S -> silent code s = Some (s', c) ->
  c <= free s P S -> Z.of_nat (length (stk s')) <= 1024 -> moves V s P S s' c.
Proof.
  intros I H L N. unfold silent in H. destruct (byte_decode (rest s)) as [i|] eqn:D; [eapply byte_silent_moves; eassumption|].
  destruct (decode (rest s)) as [i n] eqn:E.
  pose proof (i_stack _ _ _ _ I) as K. pose proof (i_below _ _ _ _ I) as B. pose proof (i_tok _ _ _ _ I) as T.
  assert (ZERO : below (tb s) (Num 0)) by (split; [lia | reflexivity]).
  assert (OP2 : forall f a b r, fn_of i = Some f -> stk s = a :: b :: r ->
    pushed s (price f) n r (operation (tb s) f a b (Num 0)) = Some (s', c) -> moves V s P S s' c).
  { intros f a b r F Q H'. rewrite Q in *. inversion B as [|? ? A B1]; subst. inversion B1 as [|? ? A' B2]; subst.
    refine (pushed_moves _ _ _ _ _ _ _ _ _ _ _ _ I D E _ (operation_makes _ _ f a b (Num 0) T A A' ZERO) B2 H' L N).
    rewrite K. destruct i; try discriminate; injection F as <-; reflexivity. }
  destruct i; try discriminate;
    try (destruct (stk s) as [|a [|b r]] eqn:Q; try discriminate; eapply OP2; try reflexivity; exact H).
  - (* PUSH *) destruct (_ && _) eqn:R; [|discriminate]. splits. apply Z.leb_le in H0. apply Z.ltb_lt in H1.
    refine (pushed_moves _ _ _ _ _ _ _ _ _ _ _ _ I D E _ (makes_same _ _ (Num v) T (conj H0 H1)) B H L N).
    rewrite K. reflexivity.
  - (* DUP *) destruct (nth_error (stk s) n0) as [o|] eqn:R; [|discriminate].
    refine (pushed_moves _ _ _ _ _ _ _ _ _ _ _ _ I D E _ (makes_same _ _ o T (below_nth _ _ _ _ R B)) B H L N).
    rewrite K. cbn [exec]. rewrite nth_error_map, R. reflexivity.
  - (* SWAP *) destruct (stk s) as [|a r] eqn:Q; [discriminate|]. inversion B as [|? ? A B1]; subst.
    destruct (nth_error r n0) as [o|] eqn:R; [|discriminate]. injection H as <- <-.
    apply same_moves with (i := SWAP n0); auto; [|constructor; [eapply below_nth; eassumption | apply below_upd; assumption]].
    rewrite K. cbn [exec map]. rewrite nth_error_map, R, map_upd. reflexivity.
  - (* POP *) destruct (stk s) as [|a r] eqn:Q; [discriminate|]. inversion B as [|? ? A B1]; subst. injection H as <- <-.
    apply same_moves with (i := POP); auto. rewrite K. reflexivity.
  - (* ADDMOD *) destruct (stk s) as [|a [|b [|d r]]] eqn:Q; try discriminate.
    inversion B as [|? ? A B1]; subst. inversion B1 as [|? ? A' B2]; subst. inversion B2 as [|? ? A'' B3]; subst.
    refine (pushed_moves _ _ _ _ _ _ _ _ _ _ _ _ I D E _ (operation_makes _ _ FAddMod a b d T A A' A'') B3 H L N).
    rewrite K. reflexivity.
  - (* MULMOD *) destruct (stk s) as [|a [|b [|d r]]] eqn:Q; try discriminate.
    inversion B as [|? ? A B1]; subst. inversion B1 as [|? ? A' B2]; subst. inversion B2 as [|? ? A'' B3]; subst.
    refine (pushed_moves _ _ _ _ _ _ _ _ _ _ _ _ I D E _ (operation_makes _ _ FMulMod a b d T A A' A'') B3 H L N).
    rewrite K. reflexivity.
  - (* GT *) destruct (stk s) as [|a [|b r]] eqn:Q; try discriminate.
    inversion B as [|? ? A B1]; subst. inversion B1 as [|? ? A' B2]; subst.
    refine (pushed_moves _ _ _ _ _ _ _ _ _ _ _ _ I D E _ (operation_makes _ _ FLt b a (Num 0) T A' A ZERO) B2 H L N).
    rewrite K. reflexivity.
  - (* ISZERO *) destruct (stk s) as [|a r] eqn:Q; [discriminate|]. inversion B as [|? ? A B1]; subst.
    refine (pushed_moves _ _ _ _ _ _ _ _ _ _ _ _ I D E _ (operation_makes _ _ FEq (Num 0) a (Num 0) T ZERO A ZERO) B1 H L N).
    rewrite K. cbn [exec map apply oval]. rewrite (Z.eqb_sym 0). reflexivity.
  - (* NOT *) destruct (stk s) as [|a r] eqn:Q; [discriminate|]. inversion B as [|? ? A B1]; subst.
    pose proof (oval_word _ _ _ T A) as [X Y]. pose proof W_pos.
    assert (TOP : below (tb s) (Num (W - 1))) by (split; lia).
    refine (pushed_moves _ _ _ _ _ _ _ _ _ _ _ _ I D E _ (operation_makes _ _ FSub (Num (W - 1)) a (Num 0) T TOP A ZERO) B1 H L N).
    rewrite K. cbn [exec map apply oval]. rewrite Z.mod_small by lia. reflexivity.
  - (* CALLDATALOAD *) destruct (stk s) as [|a r] eqn:Q; [discriminate|]. inversion B as [|? ? A B1]; subst.
    refine (pushed_moves _ _ _ _ _ _ _ _ _ _ _ _ I D E _ (intern_makes _ _ (NCalldata a) T A) B1 H L N).
    rewrite K. reflexivity.
  - (* CALLDATASIZE *)
    refine (pushed_moves _ _ _ _ _ _ _ _ _ _ _ _ I D E _ (intern_makes _ _ NSize T Logic.I) B H L N). rewrite K. reflexivity.
  - (* MLOAD *) destruct (stk s) as [|a r] eqn:Q; [discriminate|]. inversion B as [|? ? A B1]; subst.
    destruct (reach (tb s) (smw s) a 32) as [mw|] eqn:RE; [|discriminate].
    pose proof (reach_pays _ _ _ _ _ _ _ I A RE) as GR. pose proof (i_pc _ _ _ _ I) as (_ & _ & PE). rewrite PE in D, E.
    assert (X : exec code cd MLOAD (pc S + n) (stack S) (mem S) (mwords S) =
      (3 + (cmem (grown (mwords S) (oval V a) 32) - cmem (mwords S)),
        Go (mload (mem S) (oval V a) :: map (oval V) r) (mem S) (grown (mwords S) (oval V a) 32) (pc S + n))).
    { rewrite K. reflexivity. }
    assert (READ : forall o T1, makes (tb s) V (o, T1) (mload (mem S) (oval V a)) ->
      Some (onward s n (o :: r) (cells s) mw T1, 3 + (cmem mw - cmem (smw s))) = Some (s', c) -> moves V s P S s' c).
    { intros o T1 (V' & G & T' & Z & Z') J. apply some_pair in J as [<- <-]. cbn [fst snd] in *.
      pose proof (map_grows _ _ _ _ _ G B1) as MG.
      eexists V', _. split; [|split; [|split]].
      - apply (plain_step S MLOAD n); [exact D | exact E | exact X | eapply free_grown; [exact I | apply GR | apply GR | exact L] |].
        cbn [onward stk length] in N. cbn [length]. rewrite map_length. exact N.
      - rewrite <- Z, <- MG. apply (inv_onward V s P S T1 V' (o :: r)); auto; [constructor; [exact Z' | eapply below_all; eassumption] | lia].
      - unfold free. cbn [gas mwords onward smw]. lia.
      - exact G. }
    assert (SCRATCH : forall o T1, has_room (tb s) (room s) a 32 = true -> intern (tb s) (NScratch (gen s) a) = (o, T1) ->
      makes (tb s) V (o, T1) (mload (mem S) (oval V a))).
    { intros o T1 R J. rewrite <- J. replace (mload (mem S) (oval V a)) with (nval V (NScratch (gen s) a)).
      - apply intern_makes; [exact T|]. split; [apply I | exact A].
      - cbn [nval]. unfold mload. f_equal. symmetry. apply mbytes_ext. intros x HX. apply (scratch_is V s P S a 32); auto. }
    assert (DONE : (if has_room (tb s) (room s) a 32 then
        let '(o, T1) := intern (tb s) (NScratch (gen s) a) in Some (onward s n (o :: r) (cells s) mw T1, 3 + (cmem mw - cmem (smw s)))
      else None) = Some (s', c) -> moves V s P S s' c).
    { intros J. destruct (has_room (tb s) (room s) a 32) eqn:R; [|discriminate].
      destruct (intern (tb s) (NScratch (gen s) a)) as [o T1] eqn:JJ. apply (READ o T1); [apply SCRATCH; auto | exact J]. }
    destruct a as [z|]; [|exact (DONE H)]. destruct (kept (tb s) z (cells s)) as [[o T1]|] eqn:CE; [|exact (DONE H)].
    apply (READ o T1); [eapply kept_makes; eassumption | exact H].
  - (* MSTORE *) destruct (stk s) as [|[a|] [|o r]] eqn:Q; try discriminate.
    inversion B as [|? ? A B1]; subst. inversion B1 as [|? ? A' B2]; subst. destruct (_ && _) eqn:R; [|discriminate]. apply some_pair in H as [<- <-]. splits.
    apply Z.leb_le in H, H1. pose proof (i_pc _ _ _ _ I) as (_ & _ & PE). rewrite PE in D, E.
    pose proof (i_words _ _ _ _ I) as MW. pose proof (grown_le _ _ a 32 (proj2 MW)) as GR.
    exists V. eexists. split; [|split; [|split]].
    + apply (plain_step S MSTORE n) with (cost := 3 + (cmem (grown (mwords S) a 32) - cmem (mwords S)));
        [exact D | exact E | rewrite K; cbn [map exec oval]; reflexivity | eapply free_grown; [exact I | apply GR | apply GR | exact L] |].
      cbn [onward stk] in N. rewrite map_length. exact N.
    + destruct I. destruct i_pc0 as (PA & PB & PC).
      split; cbn [tb stk cells smw at_ rest room stack mem mwords pc onward]; auto.
      * destruct i_follows0. split; assumption.
      * apply put_cells; auto. eapply oval_word; eassumption.
      * intros x BX. apply put_beside in BX as [BX BY]. unfold mstore.
        destruct (Z.leb_spec a x), (Z.ltb_spec x (a + 32)); cbn [andb]; try lia; apply i_mem0, BY.
      * apply mstore_bytes, i_bytes0.
      * lia.
      * split; [rewrite PA; lia|]. split; [lia|]. rewrite PC, skipn_skipn'. reflexivity.
    + unfold free. cbn [gas mwords onward smw]. lia.
    + apply grows_refl.
  - (* JUMP *) destruct (stk s) as [|[d|] r] eqn:Q; [discriminate| |destruct r; discriminate]. inversion B as [|? ? A B1]; subst.
    destruct (jump code s d r) as [t|] eqn:J; [|discriminate]. injection H as <- <-. apply jump_is in J as (-> & X & Y).
    pose proof (i_pc _ _ _ _ I) as (_ & _ & RE). rewrite RE in D, E.
    exists V, (State (map (oval V) r) (mem S) (mwords S) (Z.to_nat d) (gas S - 8)). split; [|split; [|split]].
    + pose proof (free_gas _ _ _ _ I).
      apply (plain_step S JUMP n); auto; [rewrite K; cbn [exec map oval]; rewrite Y; reflexivity | lia | cbn [stk] in N; rewrite map_length; exact N].
    + apply inv_place; assumption.
    + unfold free. cbn [gas mwords smw]. lia.
    + apply grows_refl.
  - (* JUMPDEST *) injection H as <- <-. apply same_moves with (i := JUMPDEST); auto. rewrite K. reflexivity.
Qed.

(* ---- both, side by side ---- *)

(* Code gets from a state to another one, however it ends. *)
Definition finishes (S : state) (o : option outcome) : Prop := match o with Some o => HEval keccak code cd S o | None => True end.
Definition reaches (S S' : state) : Prop := forall o, finishes S' o -> finishes S o.

Lemma finishes_step S S' o : bstep S = Next S' -> finishes S' o -> finishes S o.
Proof. intros B. destruct o; cbn; [intros H; eapply HEval_step; eassumption | auto]. Qed.

(* The same program state, in later states of code and checker. *)
Definition comes (V : values) (s : sym) (P : bytes_state) (S : state) (s' : sym) (g : Z) : Prop :=
  exists V' S', inv V' s' P S' /\ free s' P S' = free s P S - g /\ grows (tb s) (tb s') V V' /\ reaches S S'.

Lemma sync_cost n stop s s' g : sync code n stop s = (s', g) -> 0 <= g.
Proof.
  revert s s' g. induction n as [|n IH]; intros s s' g H; cbn [sync] in H; [injection H as <- <-; lia|].
  destruct (at_ s =? stop); [injection H as <- <-; lia|].
  destruct (silent code s) as [[t c]|]; [|injection H as <- <-; lia].
  destruct (_ && _) eqn:E; [|injection H as <- <-; lia]. splits. apply Z.leb_le in H0.
  destruct (sync code n stop t) as [t' m] eqn:R. injection H as <- <-. apply IH in R. lia.
Qed.

Lemma sync_comes n stop s s' g V P S : sync code n stop s = (s', g) -> inv V s P S -> g <= free s P S -> comes V s P S s' g.
Proof.
  revert s s' g V S. induction n as [|n IH]; intros s s' g V S H I L; cbn [sync] in H;
    assert (STAY : (s, 0) = (s', g) -> comes V s P S s' g) by
      (intros J; injection J as <- <-; exists V, S; split; [exact I|]; split; [lia|]; split; [apply grows_refl | intros o; auto]);
    [exact (STAY H)|].
  destruct (at_ s =? stop); [exact (STAY H)|].
  destruct (silent code s) as [[t c]|] eqn:Q; [|exact (STAY H)].
  destruct (_ && _) eqn:E; [|exact (STAY H)]. splits. apply Z.leb_le in H0, H1.
  destruct (sync code n stop t) as [t' m] eqn:R. injection H as <- <-. pose proof (sync_cost _ _ _ _ _ R) as M.
  destruct (silent_moves _ _ _ _ _ _ I Q ltac:(lia) H1) as (V1 & S1 & B & I1 & G1 & W1).
  destruct (IH _ _ _ _ _ R I1 ltac:(lia)) as (V2 & S2 & I2 & G2 & W2 & RE).
  exists V2, S2. split; [exact I2|]. split; [lia|]. split; [eapply grows_trans; eassumption|].
  intros o O. eapply finishes_step; [exact B|]. apply RE, O.
Qed.

(* Scratch memory of both is another one. *)
Lemma inv_renewed V s P S : inv V s P S -> forall m' P',
  (forall x, beside x (cells s) -> m' x = bm P' x) -> (forall x, is_byte (m' x)) -> (forall x, is_byte (bm P' x)) ->
  (forall a, room s <= a -> mload m' a = mload (mem S) a) -> bw P' = bw P -> bn P' = bn P -> bt P' = bt P ->
  exists V', grows (tb s) (tb (renewed s)) V V' /\
    inv V' (renewed s) P' (State (stack S) m' (mwords S) (pc S) (gas S)).
Proof.
  intros I m' P' M MB PB C EW EN ET.
  pose (V' := Values (wv V) (fun g => if Pos.eqb g (next (tb s)) then bm P' else sv V g)).
  assert (G : grows (tb s) (tb (renewed s)) V V').
  { split; cbn; intros; [reflexivity | | lia]. destruct (Pos.eqb_spec g (next (tb s))); [lia | reflexivity]. }
  exists V'. split; [exact G|]. destruct I. split; cbn [tb stk cells smw at_ rest room stack mem mwords pc renewed] in *; auto.
  - split; cbn -[M.find].
    + apply i_tok0.
    + intros g x. destruct (Pos.eqb g _); [apply PB | apply (t_bytes _ _ i_tok0)].
    + intros i n F. destruct (t_nodes _ _ i_tok0 _ _ F) as [N B].
      split; [rewrite (node_grows _ _ _ _ _ G B); exact N | eapply node_below_grows; eassumption].
    + intros i n F. pose proof (t_next _ _ i_tok0 _ _ F). cbn. lia.
    + intros i z F. pose proof (t_limits _ _ i_tok0 _ _ F). cbn. lia.
  - apply (follows_grows _ _ _ _ _ _ G) in i_follows0. destruct i_follows0 as [FK _ _ FR]. split; cbn [known gen room tb next renewed] in *.
    + rewrite EW. exact FK.
    + lia.
    + intros x. cbn. rewrite Pos.eqb_refl. reflexivity.
    + congruence.
  - eapply below_all; eassumption.
  - apply (cells_grow _ _ _ _ _ _ _ G) in i_cells0. eapply Forall_impl; [|exact i_cells0].
    intros [a o] (X & Y & Z & B). repeat split; auto. cbn [room] in Y. rewrite C by exact Y. exact Z.
  - lia.
Qed.

Lemma write_outside m a l x : x < a \/ a + Z.of_nat (length l) <= x -> write m a l x = m x.
Proof.
  intros H. unfold write. destruct (Z.leb_spec a x), (Z.ltb_spec x (a + Z.of_nat (length l))); cbn [andb]; try reflexivity. lia.
Qed.

Lemma write_same m m' a l x : m x = m' x -> write m a l x = write m' a l x.
Proof. intros E. unfold write. rewrite E. reflexivity. Qed.

(* Both write the same bytes within scratch memory. *)
Lemma inv_written V s P S a l mem' : inv V s P S -> Forall is_byte l -> inside (room s) a (Z.of_nat (length l)) = true ->
  (forall x, mem' x = write (mem S) a l x) ->
  exists V' P', written P a l = Some P' /\ grows (tb s) (tb (renewed s)) V V' /\
    inv V' (renewed s) P' (State (stack S) mem' (mwords S) (pc S) (gas S)).
Proof.
  intros I L N E. pose (P' := Bs (bw P) (write (bm P) a l) (bn P) (bt P)).
  assert (PB : forall x, is_byte (bm P x)).
  { intros x. rewrite <- (f_state _ _ _ _ (i_follows _ _ _ _ I)). apply (t_bytes _ _ (i_tok _ _ _ _ I)). }
  destruct (inv_renewed V s P S I mem' P') as (V' & G & J).
  - intros x B. rewrite E. cbn. apply write_same, (i_mem _ _ _ _ I), B.
  - intros x. rewrite E. apply write_bytes; [apply (i_bytes _ _ _ _ I) | exact L].
  - apply write_bytes; assumption.
  - intros b B. unfold mload. f_equal. apply mbytes_ext. intros x X. rewrite E. apply write_outside.
    unfold inside in N. splits. repeat match goal with H : (_ <=? _) = true |- _ => apply Z.leb_le in H end. lia.
  - reflexivity.
  - reflexivity.
  - reflexivity.
  - exists V', P'. split; [|auto]. unfold written.
    replace (inside (bn P) a (Z.of_nat (length l))) with true by (rewrite (f_room _ _ _ _ (i_follows _ _ _ _ I)); auto). reflexivity.
Qed.

Lemma words_stack V s P S n : inv V s P S -> n = length (stk s) -> length (stack S) = n.
Proof. intros I ->. rewrite (i_stack _ _ _ _ I), map_length. reflexivity. Qed.

(* A write of the program. *)
Definition writes (V : values) (s : sym) (P : bytes_state) (S : state) (a : Z) (l : list Z) (s' : sym) (g : Z) : Prop :=
  exists V' P' S', written P a l = Some P' /\ inv V' s' P' S' /\ free s' P' S' = free s P S - g /\ grows (tb s) (tb s') V V' /\ reaches S S'.

Lemma written_budget P a l P' : written P a l = Some P' -> bt P' = bt P.
Proof. unfold written. destruct (inside _ _ _); [|discriminate]. intros H. injection H as <-. reflexivity. Qed.

(* The instruction that does it, with the stack after it. *)
Lemma writes_then V s P S s1 g a l n k mw mem' cost :
  comes V s P S s1 g -> 0 <= g -> Forall is_byte l ->
  (forall V1 S1, inv V1 s1 P S1 -> grows (tb s) (tb s1) V V1 -> free s1 P S1 = free s P S - g ->
    inside (room s1) a (Z.of_nat (length l)) = true /\ Forall (below (tb s1)) k /\
    (forall x, mem' S1 x = write (mem S1) a l x) /\ exists mw1, 0 <= mw1 <= mw /\
    bstep S1 = Next (State (map (oval V1) k) (mem' S1) mw1 (pc S1 + n) (gas S1 - (cost + (cmem mw1 - cmem (mwords S1)))))) ->
  writes V s P S a l (renewed (onward s1 n k (cells s1) mw (tb s1))) (g + (cost + (cmem mw - cmem (smw s1)))).
Proof.
  intros (V1 & S1 & I & G & W1 & R) N L H. destruct (H _ _ I W1 G) as (IN & B & ME & mw1 & MW & ST).
  pose proof (inv_onward V1 s1 P S1 (tb s1) V1 k n mw1 mw (gas S1 - (cost + (cmem mw1 - cmem (mwords S1)))) I (grows_refl _ _) (i_tok _ _ _ _ I) B MW) as J.
  destruct (inv_written _ _ _ _ a l (mem' S1) J L IN ME) as (V' & P' & E & G' & J').
  exists V', P'. eexists. split; [exact E|]. split; [exact J'|]. cbn [gas stack mem mwords pc].
  split; [|split; [eapply grows_trans; eassumption|]; intros o O; apply R; eapply finishes_step; [exact ST | exact O]].
  unfold free in *. rewrite (written_budget _ _ _ _ E). cbn [gas mwords smw renewed onward]. lia.
Qed.

Ltac split_checks :=
  splits; repeat match goal with
  | H : eqo _ _ = true |- _ => apply eqo_is in H | H : (_ <=? _) = true |- _ => apply Z.leb_le in H
  | H : (_ =? _) = true |- _ => apply Z.eqb_eq in H | H : fits _ = true |- _ => unfold fits in H; apply Z.leb_le in H end.

Lemma store_writes V s P S a x s' g : inv V s P S -> below (tb s) a -> below (tb s) x -> store code fuel s a x = Some (s', g) ->
  0 <= g /\ (g <= free s P S -> writes V s P S (oval V a) (bytes_of 32 (oval V x)) s' g).
Proof.
  intros I A X H. unfold store in H. destruct (event code fuel s) as [s1 g1] eqn:EV.
  destruct (byte_decode (rest s1)) eqn:D; [discriminate|]. destruct (decode (rest s1)) as [i n] eqn:E.
  destruct i; try discriminate. destruct (stk s1) as [|b [|y r]] eqn:K; try discriminate.
  destruct (reach (tb s1) (smw s1) a 32) as [mw|] eqn:RE; [|discriminate].
  destruct (_ && _) eqn:C; [|discriminate]. apply some_pair in H as [<- <-]. split_checks. subst b y. pose proof (sync_cost _ _ _ _ _ EV) as N1.
  split; [lia|]. intros L.
  apply writes_then with (mem' := fun S1 => mstore (mem S1) (oval V a) (oval V x));
    [eapply sync_comes; [exact EV | exact I | lia] | exact N1 | apply bytes_of_bytes|].
  intros V1 S1 I1 G1 GA. pose proof (below_grows _ _ _ _ _ G1 A) as A1. rewrite bytes_of_length.
  pose proof (i_below _ _ _ _ I1) as B. rewrite K in B. inversion B as [|? ? B0 B1]; subst. inversion B1 as [|? ? B2 B3]; subst.
  pose proof (i_pc _ _ _ _ I1) as (_ & _ & PE). rewrite PE in D, E.
  split; [rewrite <- (oval_grows _ _ _ _ _ G1 A); eapply has_room_is; [apply I1 | exact A1 | assumption]|]. split; [exact B3|].
  split; [intros z; apply mstore_write|]. pose proof (reach_pays _ _ _ _ _ _ _ I1 A1 RE) as GR.
  exists (grown (mwords S1) (oval V1 a) 32). split; [lia|].
  apply (plain_step S1 MSTORE n) with (cost := 3 + (cmem (grown (mwords S1) (oval V1 a) 32) - cmem (mwords S1))); [exact D | exact E | | eapply free_grown; [exact I1 | apply GR | apply GR | lia] | rewrite map_length; assumption].
  rewrite (i_stack _ _ _ _ I1), K. cbn [map exec].
  rewrite (oval_grows _ _ _ _ _ G1 A), (oval_grows _ _ _ _ _ G1 X). reflexivity.
Qed.

Lemma store_byte_writes V s P S a x s' g : inv V s P S -> below (tb s) a -> below (tb s) x -> store_byte code fuel s a x = Some (s', g) ->
  0 <= g /\ (g <= free s P S -> writes V s P S (oval V a) [oval V x mod 256] s' g).
Proof.
  intros I A X H. unfold store_byte in H. destruct (event code fuel s) as [s1 g1] eqn:EV.
  destruct (byte_decode (rest s1)) as [[]|] eqn:D; try discriminate. destruct (stk s1) as [|b [|y r]] eqn:K; try discriminate.
  destruct (reach (tb s1) (smw s1) a 1) as [mw|] eqn:RE; [|discriminate].
  destruct (_ && _) eqn:C; [|discriminate]. apply some_pair in H as [<- <-]. split_checks. subst b y. pose proof (sync_cost _ _ _ _ _ EV) as N1.
  split; [lia|]. intros L.
  apply writes_then with (mem' := fun S1 => write (mem S1) (oval V a) [oval V x mod 256]);
    [eapply sync_comes; [exact EV | exact I | lia] | exact N1 | constructor; [apply Z.mod_pos_bound; lia | constructor]|].
  intros V1 S1 I1 G1 GA. pose proof (below_grows _ _ _ _ _ G1 A) as A1. cbn [length].
  pose proof (i_below _ _ _ _ I1) as B. rewrite K in B. inversion B as [|? ? B0 B1]; subst. inversion B1 as [|? ? B2 B3]; subst.
  pose proof (i_pc _ _ _ _ I1) as (_ & _ & PE). rewrite PE in D.
  split; [rewrite <- (oval_grows _ _ _ _ _ G1 A); eapply has_room_is; [apply I1 | exact A1 | assumption]|]. split; [exact B3|].
  split; [reflexivity|].
  pose proof (reach_pays _ _ _ _ _ _ _ I1 A1 RE) as GR. exists (grown (mwords S1) (oval V1 a) 1). split; [lia|].
  apply (more_step S1 MSTORE8) with (cost := 3 + (cmem (grown (mwords S1) (oval V1 a) 1) - cmem (mwords S1))); [exact D | | eapply free_grown; [exact I1 | apply GR | apply GR | lia] | rewrite map_length; assumption].
  rewrite (i_stack _ _ _ _ I1), K. cbn [map byte_exec].
  rewrite (oval_grows _ _ _ _ _ G1 A), (oval_grows _ _ _ _ _ G1 X). reflexivity.
Qed.

Lemma copy_writes V s P S a x n s' g : inv V s P S -> below (tb s) a -> below (tb s) x -> copy code fuel s a x n = Some (s', g) ->
  0 <= g /\ 0 <= n /\ (g <= free s P S -> writes V s P S (oval V a) (cdbytes cd (oval V x) n) s' g).
Proof.
  intros I A X H. unfold copy in H. destruct (event code fuel s) as [s1 g1] eqn:EV.
  destruct (byte_decode (rest s1)) as [[]|] eqn:D; try discriminate. destruct (stk s1) as [|b [|y [|[m|] r]]] eqn:K; try discriminate.
  destruct (reach (tb s1) (smw s1) a n) as [mw|] eqn:RE; [|discriminate].
  destruct (_ && _) eqn:C; [|discriminate]. apply some_pair in H as [<- <-]. split_checks. subst b y m. pose proof (sync_cost _ _ _ _ _ EV) as N1.
  assert (N : 0 <= n) by (unfold has_room in *; split_checks; lia).
  split; [lia|]. split; [exact N|]. intros L.
  assert (LE : length (cdbytes cd (oval V x) n) = Z.to_nat n) by apply take_length.
  apply writes_then with (mem' := fun S1 => write (mem S1) (oval V a) (cdbytes cd (oval V x) n));
    [eapply sync_comes; [exact EV | exact I | lia] | exact N1 | apply take_bytes, skipn_Forall, cd_bytes|].
  intros V1 S1 I1 G1 GA. pose proof (below_grows _ _ _ _ _ G1 A) as A1. rewrite LE, Z2Nat.id by exact N.
  pose proof (i_below _ _ _ _ I1) as B. rewrite K in B. inversion B as [|? ? B0 B1]; subst. inversion B1 as [|? ? B2 B3]; subst.
  inversion B3 as [|? ? B4 B5]; subst.
  pose proof (i_pc _ _ _ _ I1) as (_ & _ & PE). rewrite PE in D.
  split; [rewrite <- (oval_grows _ _ _ _ _ G1 A); eapply has_room_is; [apply I1 | exact A1 | assumption]|]. split; [exact B5|].
  split; [reflexivity|].
  pose proof (reach_pays _ _ _ _ _ _ _ I1 A1 RE) as GR. exists (grown (mwords S1) (oval V1 a) n). split; [lia|].
  apply (more_step S1 CALLDATACOPY) with (cost := 3 + 3 * words n + (cmem (grown (mwords S1) (oval V1 a) n) - cmem (mwords S1))); [exact D | | eapply free_grown; [exact I1 | apply GR | apply GR | lia] | rewrite map_length; assumption].
  rewrite (i_stack _ _ _ _ I1), K. cbn [map byte_exec oval].
  rewrite (oval_grows _ _ _ _ _ G1 A), (oval_grows _ _ _ _ _ G1 X). reflexivity.
Qed.

(* A branch of the program. *)
Lemma fork_comes V s P S x t u g : inv V s P S -> below (tb s) x -> fork code fuel s x = Some (t, u, g) ->
  0 <= g /\ (g <= free s P S -> comes V s P S (if oval V x =? 0 then u else t) g).
Proof.
  intros I X H. unfold fork in H. destruct (event code fuel s) as [s1 g1] eqn:EV.
  destruct (byte_decode (rest s1)) eqn:D; [discriminate|]. destruct (decode (rest s1)) as [i n] eqn:E.
  destruct i; try discriminate. destruct (stk s1) as [|[d|] [|c r]] eqn:K; try discriminate.
  destruct (jump code s1 d r) as [taken|] eqn:J; [|discriminate].
  destruct (truth 8 (tb s1) x) as [bx x'] eqn:TX. destruct (truth 8 (tb s1) c) as [bc c'] eqn:TC.
  destruct (_ && _) eqn:C; [|discriminate]. split_checks. subst c'. pose proof (sync_cost _ _ _ _ _ EV) as N1.
  assert (g = g1 + 10) as -> by (destruct (Bool.eqb bx bc); injection H as <- <- <-; reflexivity).
  split; [lia|]. intros L. destruct (sync_comes _ _ _ _ _ _ _ _ EV I ltac:(lia)) as (V1 & S1 & I1 & GA & G1 & R).
  pose proof (i_below _ _ _ _ I1) as B. rewrite K in B. inversion B as [|? ? B0 B1]; subst. inversion B1 as [|? ? B2 B3]; subst.
  pose proof (i_pc _ _ _ _ I1) as (_ & _ & PE). rewrite PE in D, E.
  destruct (truth_is _ _ _ _ _ _ (i_tok _ _ _ _ I1) (below_grows _ _ _ _ _ G1 X) TX) as (_ & QX).
  destruct (truth_is _ _ _ _ _ _ (i_tok _ _ _ _ I1) B2 TC) as (_ & QC). rewrite (oval_grows _ _ _ _ _ G1 X) in QX.
  apply jump_is in J as (-> & DP & DV).
  pose (far := State (map (oval V1) r) (mem S1) (mwords S1) (Z.to_nat d) (gas S1 - 10)).
  pose (near := State (map (oval V1) r) (mem S1) (mwords S1) (pc S1 + n) (gas S1 - 10)). pose proof (free_gas _ _ _ _ I1).
  assert (ST : bstep S1 = Next (if oval V1 c =? 0 then near else far)).
  { destruct (oval V1 c =? 0) eqn:Z0.
    - unfold near. apply (plain_step S1 JUMPI n) with (cost := 10); [exact D | exact E | | lia | rewrite map_length; assumption].
      rewrite (i_stack _ _ _ _ I1), K. cbn [map exec oval]. rewrite Z0. reflexivity.
    - apply (plain_step S1 JUMPI n) with (cost := 10); [exact D | exact E | | lia | rewrite map_length; assumption].
      rewrite (i_stack _ _ _ _ I1), K. cbn [map exec oval]. rewrite Z0, DV. reflexivity. }
  assert (FAR : inv V1 (Sym (tb s1) d (skipn (Z.to_nat d) code) r (cells s1) (known s1) (gen s1) (room s1) (smw s1)) P far)
    by exact (inv_place V1 s1 P S1 d r (gas S1 - 10) I1 DP B3).
  assert (NEAR : inv V1 (onward s1 n r (cells s1) (smw s1) (tb s1)) P near)
    by exact (inv_onward V1 s1 P S1 (tb s1) V1 r n (mwords S1) (smw s1) (gas S1 - 10) I1 (grows_refl _ _) (i_tok _ _ _ _ I1) B3 (i_words _ _ _ _ I1)).
  assert (GO : forall S2, bstep S1 = Next S2 -> reaches S S2) by (intros S2 ST' o O; apply R; eapply finishes_step; [exact ST' | exact O]).
  destruct (oval V1 c =? 0) eqn:Z0; [exists V1, near | exists V1, far];
    (split; [|split; [|split; [|apply GO, ST]]]).
  - rewrite QX. destruct bx, bc; cbn [Bool.eqb] in *; destruct (oval V1 x' =? 0); try discriminate; injection H as <- <-; exact NEAR.
  - transitivity (free s1 P S1 - 10); [|lia]. rewrite QX.
    destruct bx, bc; cbn [Bool.eqb] in *; destruct (oval V1 x' =? 0); try discriminate; injection H as <- <-; unfold free, near; cbn [negb gas mwords smw onward]; lia.
  - rewrite QX. destruct bx, bc; cbn [Bool.eqb] in *; destruct (oval V1 x' =? 0); try discriminate; injection H as <- <-; exact G1.
  - rewrite QX. destruct bx, bc; cbn [Bool.eqb] in *; destruct (oval V1 x' =? 0); try discriminate; injection H as <- <-; exact FAR.
  - transitivity (free s1 P S1 - 10); [|lia]. rewrite QX.
    destruct bx, bc; cbn [Bool.eqb] in *; destruct (oval V1 x' =? 0); try discriminate; injection H as <- <-; unfold free, far; cbn [negb gas mwords smw]; lia.
  - rewrite QX. destruct bx, bc; cbn [Bool.eqb] in *; destruct (oval V1 x' =? 0); try discriminate; injection H as <- <-; exact G1.
Qed.

Lemma inv_again V s P S : inv V s P S -> exists V', grows (tb s) (tb (renewed s)) V V' /\ inv V' (renewed s) P S.
Proof.
  intros I. destruct (inv_renewed V s P S I (mem S) P) as (V' & G & J);
    try reflexivity; try apply (i_mem _ _ _ _ I); try apply (i_bytes _ _ _ _ I).
  - intros x. rewrite <- (f_state _ _ _ _ (i_follows _ _ _ _ I)). apply (t_bytes _ _ (i_tok _ _ _ _ I)).
  - exists V'. split; [exact G|]. destruct S. exact J.
Qed.

(* Code where a turn begins: the same but for the place and scratch memory. *)
Definition ready (b : sym) (V : values) : Prop :=
  tok V (tb b) /\ Forall (below (tb b)) (stk b) /\ Forall (fun '(_, o) => below (tb b) o) (cells b)
  /\ Forall (fun '(_, o) => below (tb b) o) (known b).

Lemma tok_shrinks T T' V V' : grows T T' V V' -> tok V T -> tok V' T' -> tok V' T.
Proof.
  intros G K K'. split; [apply K' | apply K' | | apply K|];
    [|intros i z F; destruct (t_limits _ _ K _ _ F) as [L B]; rewrite (g_words _ _ _ _ G) by exact B; auto].
  intros i n F. destruct (t_nodes _ _ K _ _ F) as [E B]. split; [|exact B].
  rewrite (g_words _ _ _ _ G) by (eapply t_next; eassumption). rewrite E. symmetry. eapply node_grows; eassumption.
Qed.

Lemma eq_list_is {A} (f : A -> A -> bool) k l : (forall a b, f a b = true -> a = b) -> eq_list f k l = true -> k = l.
Proof.
  intros E H. unfold eq_list in H. apply andb_prop in H as [L H]. apply Nat.eqb_eq in L. revert l L H.
  induction k as [|a k IH]; intros [|b l] L H; cbn [length combine forallb] in *; try discriminate; [reflexivity|].
  apply andb_prop in H as [H H']. injection L as L. f_equal; [apply E, H | apply IH; [exact L | exact H']].
Qed.

Lemma entered_inv b V V2 s P S d : ready b V -> grows (tb b) (tb s) V V2 -> inv V2 s P S -> alike b s = true -> at_ s = d ->
  exists V3, grows (tb b) (tb (entered code b d (tb b))) V V3 /\ ready b V3 /\ inv V3 (entered code b d (tb b)) P S /\ smw b = smw s.
Proof.
  intros (K & BS & BC & BK) G I A D. unfold alike in A. splits.
  apply eq_list_is in H; [|exact eqo_is]. apply Z.eqb_eq in H0, H1.
  apply eq_list_is in H3; [|intros [a o] [c p] X; splits; apply Z.eqb_eq in H4; apply eqo_is in H5; congruence].
  pose proof (tok_shrinks _ _ _ _ G K (i_tok _ _ _ _ I)) as K2.
  pose (V3 := Values (wv V2) (fun g => if Pos.eqb g (next (tb b)) then bm P else sv V2 g)).
  assert (G2 : grows (tb b) (tb (entered code b d (tb b))) V2 V3).
  { split; cbn; intros; [reflexivity | | lia]. destruct (Pos.eqb_spec g (next (tb b))); [lia | reflexivity]. }
  assert (G02 : grows (tb b) (tb b) V V2) by (split; [apply G | apply G | lia]).
  assert (PB : forall x, is_byte (bm P x)).
  { intros x. rewrite <- (f_state _ _ _ _ (i_follows _ _ _ _ I)). apply (t_bytes _ _ (i_tok _ _ _ _ I)). }
  assert (K3 : tok V3 (tb (entered code b d (tb b)))).
  { split; cbn -[M.find].
    - apply (t_words _ _ K2).
    - intros g x. destruct (Pos.eqb g _); [apply PB | apply (t_bytes _ _ K2)].
    - intros i n F. destruct (t_nodes _ _ K2 _ _ F) as [N B].
      split; [rewrite (node_grows _ _ _ _ _ G2 B); exact N | eapply node_below_grows; eassumption].
    - intros i n F. pose proof (t_next _ _ K2 _ _ F). lia.
    - intros i z F. pose proof (t_limits _ _ K2 _ _ F). lia. }
  exists V3. split; [eapply grows_trans; eassumption|]. split; [split; [eapply tok_shrinks; eassumption | auto]|]. split; [|congruence].
  pose proof I as I'. destruct I. destruct i_pc0 as (PA & PN & PR).
  split; cbn [tb stk cells smw at_ rest room stack mem mwords pc entered renewed known gen] in *; auto.
  - split; cbn [known gen room tb entered renewed next].
    + rewrite forallb_forall in H2. apply Forall_forall. intros [w o] X. pose proof (H2 _ X) as Y. cbn beta iota in Y.
      destruct (lookup w (known s)) as [q|] eqn:LQ; [|discriminate]. apply eqo_is in Y as <-. apply lookup_in in LQ.
      rewrite Forall_forall in BK. pose proof (BK _ X) as Z. cbn beta iota in Z.
      pose proof (f_known _ _ _ _ i_follows0) as FK. rewrite Forall_forall in FK. apply FK in LQ as [LQ _].
      split; [rewrite LQ; symmetry; eapply oval_grows; eassumption | eapply below_grows; eassumption].
    + lia.
    + intros x. cbn. rewrite Pos.eqb_refl. reflexivity.
    + rewrite (f_room _ _ _ _ i_follows0). congruence.
  - rewrite i_stack0, <- H. symmetry. eapply map_grows; eassumption.
  - eapply below_all; eassumption.
  - rewrite <- H3 in i_cells0. rewrite Forall_forall in *. intros [a o] X. pose proof (BC _ X) as Z. cbn beta iota in Z.
    apply i_cells0 in X as (X1 & X2 & X3 & _). split; [exact X1|]. split; [cbn [room entered renewed]; lia|].
    split; [rewrite X3; symmetry; eapply oval_grows; eassumption | eapply below_grows; eassumption].
  - rewrite <- H3 in i_mem0. exact i_mem0.
  - lia.
  - subst d. split; [exact PA|]. split; [exact PN|]. rewrite PA. reflexivity.
  - lia.
Qed.

(* How code and program are after statements. *)
Definition ends (b : body) (T : table) (r : option sym) (f : Z) (V : values) (P : bytes_state) (S : state) : Prop :=
  match bytes_mean keccak cd b P with
  | inr o => finishes S o
  | inl P' => exists s' V' S', r = Some s' /\ inv V' s' P' S' /\ f <= free s' P' S' /\ grows T (tb s') V V' /\ reaches S S'
  end.

Lemma min_below v j : v < j -> Z.min v (j - 1) = Z.min v j. Proof. lia. Qed.

Lemma inv_table V s P S T V' : inv V s P S -> grows (tb s) T V V' -> tok V' T -> inv V' (with_table s T) P S.
Proof.
  intros I G K. destruct I. split; cbn [tb stk cells smw at_ rest room with_table] in *; auto.
  - apply (follows_grows _ _ _ _ _ _ G) in i_follows0. destruct i_follows0. split; assumption.
  - rewrite i_stack0. symmetry. eapply map_grows; eassumption.
  - eapply below_all; eassumption.
  - apply (cells_grow _ _ _ _ _ _ _ G) in i_cells0. exact i_cells0.
Qed.

Lemma inv_limited V s P S x : inv V s P S -> below (tb s) x -> oval V x <> 0 ->
  inv V (with_table s (limited 8 (tb s) x)) P S /\ grows (tb s) (limited 8 (tb s) x) V V.
Proof.
  intros I B H. destruct (limited_is 8 _ _ _ (i_tok _ _ _ _ I) B H) as (K & _ & X).
  assert (G : grows (tb s) (limited 8 (tb s) x) V V) by (split; auto; rewrite X; lia).
  split; [apply (inv_table _ _ _ _ _ _ I G K) | exact G].
Qed.

Lemma inv_bind V s P S w o : inv V s P S -> below (tb s) o -> inv V (bind s w o) (bound P w (oval V o)) S.
Proof.
  intros I B. destruct I. split; cbn [tb stk cells smw at_ rest room bind] in *; auto.
  destruct i_follows0 as [FK FG FS FR]. split; cbn [known gen room bind bound bw bm bn] in *; auto.
  constructor; [unfold set; rewrite Pos.eqb_refl; auto|]. apply Forall_forall. intros [v p] X. apply filter_In in X as [X Y].
  rewrite Forall_forall in FK. pose proof (FK _ X) as Z. cbn beta iota in Y, Z. unfold set.
  destruct (Pos.eqb_spec v w); [discriminate | exact Z].
Qed.

(* A word of the program, and the state with its table. *)
Lemma interp_inv V s P S x o T : inv V s P S -> interp s (tb s) x = Some (o, T) ->
  exists V', grows (tb s) T V V' /\ inv V' (with_table s T) P S /\ below T o /\ value cd P x = Some (oval V' o).
Proof.
  intros I H. destruct (interp_makes _ _ _ _ _ _ _ (i_tok _ _ _ _ I) (i_follows _ _ _ _ I) H) as (V' & G & K & B & E).
  exists V'. split; [exact G|]. split; [eapply inv_table; eassumption|]. auto.
Qed.

Lemma interp_with s T0 T x : interp (with_table s T0) T x = interp s T x.
Proof. revert T. induction x; intros T; cbn [interp with_table known gen room]; rewrite ?IHx; auto.
  rewrite IHx1. destruct (interp s T x1) as [[? ?]|]; [|reflexivity]. rewrite IHx2.
  destruct (interp s t x2) as [[? ?]|]; [|reflexivity]. rewrite IHx3. reflexivity.
Qed.

Lemma interp_next V s P S x T0 o T : inv V (with_table s T0) P S -> interp s T0 x = Some (o, T) ->
  exists V', grows T0 T V V' /\ inv V' (with_table s T) P S /\ below T o /\ value cd P x = Some (oval V' o).
Proof.
  intros I H. rewrite <- (interp_with s T0) in H. exact (interp_inv V (with_table s T0) P S x o T I H).
Qed.

Lemma interps_inv V s P S l k T : inv V s P S -> interps s (tb s) l = Some (k, T) ->
  exists V', grows (tb s) T V V' /\ inv V' (with_table s T) P S /\ Forall (below T) k /\ all_values cd P l = Some (map (oval V') k).
Proof.
  intros I. assert (I0 : inv V (with_table s (tb s)) P S) by (destruct s; exact I). clear I.
  generalize dependent (tb s). revert V k T. induction l as [|x l IH]; intros V k T T0 I H; cbn [interps] in H.
  - injection H as <- <-. exists V. split; [apply grows_refl|]. split; [exact I|]. split; [constructor | reflexivity].
  - destruct (interp s T0 x) as [[o T1]|] eqn:E; [|discriminate]. destruct (interps s T1 l) as [[k1 T2]|] eqn:E'; [|discriminate].
    injection H as <- <-. destruct (interp_next _ _ _ _ _ _ _ _ I E) as (V1 & G1 & I1 & B1 & X1).
    destruct (IH _ _ _ _ I1 E') as (V2 & G2 & I2 & B2 & X2). exists V2. split; [eapply grows_trans; eassumption|].
    split; [exact I2|]. split; [constructor; [eapply below_grows; eassumption | exact B2]|].
    cbn [all_values map]. rewrite X1, X2, (oval_grows _ _ _ _ _ G2 B1). reflexivity.
Qed.

(* What has been computed on the way is of no effect. *)
Lemma ends_grows b T T' r f V V' P S : grows T T' V V' -> ends b T' r f V' P S -> ends b T r f V P S.
Proof.
  unfold ends. intros G H. destruct (bytes_mean keccak cd b P) as [P'|o]; [|exact H].
  destruct H as (s' & V1 & S' & E & I & GA & G' & R). exists s', V1, S'. split; [exact E|]. split; [exact I|].
  split; [exact GA|]. split; [eapply grows_trans; eassumption | exact R].
Qed.

Lemma after_is (r : option (sym * Z)) (next : sym -> option (option sym * Z)) e g :
  match r with Some (s, g) => match next s with Some (e, h) => Some (e, g + h) | None => None end | None => None end = Some (e, g) ->
  exists s g1 h, r = Some (s, g1) /\ next s = Some (e, h) /\ g = g1 + h.
Proof.
  destruct r as [[s g1]|]; [|discriminate]. destruct (next s) as [[e' h]|] eqn:N; [|discriminate].
  intros H. apply some_pair in H as [<- <-]. exists s, g1, h. auto.
Qed.

Lemma fails_is s V P S g : fails code fuel s = Some g -> inv V s P S -> 0 <= g /\ (g <= free s P S -> HEval keccak code cd S Failed).
Proof.
  intros H I. unfold fails in H. destruct (event code fuel s) as [s1 g1] eqn:EV.
  destruct (byte_decode (rest s1)) eqn:D; [discriminate|]. destruct (decode (rest s1)) as [i n] eqn:E. destruct i; try discriminate.
  injection H as <-. split; [eapply sync_cost, EV|]. intros L.
  destruct (sync_comes _ _ _ _ _ _ _ _ EV I L) as (V1 & S1 & I1 & GA & G & R). apply (R (Some Failed)), HEval_halt.
  pose proof (i_pc _ _ _ _ I1) as (_ & _ & PE). rewrite PE in D, E. unfold byte_step. rewrite D. unfold step. rewrite E. cbn [exec].
  destruct (gas S1 <? 0); reflexivity.
Qed.

Lemma halts S i n cost l : byte_decode (skipn (pc S) code) = None -> decode (skipn (pc S) code) = (i, n) ->
  exec code cd i (pc S + n) (stack S) (mem S) (mwords S) = (cost, Ret l) -> cost <= gas S -> HEval keccak code cd S (Returned l).
Proof.
  intros D E X L. apply HEval_halt. unfold byte_step. rewrite D. unfold step. rewrite E, X.
  rewrite (proj2 (Z.ltb_ge _ _)) by lia. reflexivity.
Qed.

Lemma in_row_is V s P S a l : inv V s P S -> in_row a l (cells s) = true ->
  mbytes (mem S) a (32 * length l) = flat_map (bytes_of 32) (map (oval V) l).
Proof.
  intros I. revert a. induction l as [|x l IH]; intros a H; [reflexivity|]. cbn [in_row] in H.
  destruct (cell a (cells s)) as [o|] eqn:C; [|discriminate]. apply andb_prop in H as [E H]. apply eqo_is in E as ->.
  apply cell_in in C. pose proof (i_cells _ _ _ _ I) as CS. rewrite Forall_forall in CS. apply CS in C as (_ & _ & C & _).
  cbn [length map flat_map]. replace (32 * Datatypes.S (length l))%nat with (32 + 32 * length l)%nat by lia.
  rewrite mbytes_app, IH, (mload_bytes _ _ (i_bytes _ _ _ _ I)), C by exact H. reflexivity.
Qed.

Lemma return_words_is s V P S l g : return_words code fuel s l = Some g -> inv V s P S -> Forall (below (tb s)) l ->
  0 <= g /\ (g <= free s P S -> HEval keccak code cd S (Returned (flat_map (bytes_of 32) (map (oval V) l)))).
Proof.
  intros H I X. unfold return_words in H. destruct (event code fuel s) as [s1 g1] eqn:EV.
  destruct (byte_decode (rest s1)) eqn:D; [discriminate|]. destruct (decode (rest s1)) as [i n] eqn:E. destruct i; try discriminate.
  destruct (stk s1) as [|[a|] [|[m|] r]] eqn:K; try discriminate. destruct (_ && _) eqn:Q; [|discriminate].
  apply some_is in H as <-. pose proof (sync_cost _ _ _ _ _ EV). split_checks. subst m. split; [lia|]. intros L.
  destruct (sync_comes _ _ _ _ _ _ _ _ EV I ltac:(lia)) as (V1 & S1 & I1 & GA & G & R). apply (R (Some _)). cbn [finishes].
  pose proof (i_pc _ _ _ _ I1) as (_ & _ & PE). rewrite PE in D, E.
  rewrite <- (map_grows _ _ _ _ _ G X). rewrite <- (in_row_is _ _ _ _ a _ I1) by assumption.
  eapply (halts S1 RETURN n); [exact D | exact E | |].
  - rewrite (i_stack _ _ _ _ I1), K. cbn [map exec oval].
    replace (Z.to_nat (32 * Z.of_nat (length l))) with (32 * length l)%nat by lia. reflexivity.
  - pose proof (i_words _ _ _ _ I1) as MW. pose proof (grown_le _ _ a (32 * Z.of_nat (length l)) (proj2 MW)).
    pose proof (free_grown _ _ _ _ (grown (mwords S1) a (32 * Z.of_nat (length l))) (grown (smw s1) a (32 * Z.of_nat (length l))) 0 I1 ltac:(lia) ltac:(lia) ltac:(lia)). lia.
Qed.

Lemma return_cost_is s V P S a n c : return_cost s a n = Some c -> inv V s P S -> below (tb s) a -> below (tb s) n ->
  inside (room s) (oval V a) (oval V n) = true /\ cmem (grown (smw s) (oval V a) (oval V n)) - cmem (smw s) = c.
Proof.
  intros H I A N. pose proof (i_tok _ _ _ _ I) as K. unfold return_cost in H. destruct a as [a|i].
  - destruct n as [n|]; [|discriminate]. destruct (_ && _) eqn:C; [|discriminate]. apply some_is in H as <-. splits.
    split; [|reflexivity]. apply (has_room_is _ V _ (Num a) _ K A). assumption.
  - destruct (M.find i (nodes (tb s))) as [m|] eqn:E; [|discriminate]. apply (t_nodes _ _ K) in E as [E B].
    destruct m as [f z m q| | | |]; try discriminate. destruct f; try discriminate. destruct z as [z|]; [|discriminate].
    destruct (_ && _) eqn:C; [|discriminate]. apply some_is in H as <-. split_checks. subst m.
    pose proof (greatest_bound _ _ _ K N) as L. pose proof (oval_word _ _ _ K N) as [N0 _]. destruct B as ([_ ZW] & _ & _).
    cbn [nval apply oval below] in *. rewrite Z.mod_small in E by lia. rewrite E. unfold inside, grown in *. split.
    + repeat (rewrite (proj2 (Z.leb_le _ _)) by lia). reflexivity.
    + replace (z - oval V n + oval V n) with (0 + z) by lia. destruct (Z.eqb_spec (oval V n) 0); [lia|].
      destruct (Z.eqb_spec z 0); [lia|]. rewrite Z.max_l by lia. lia.
Qed.

Lemma return_scratch_is s V P S a n g : return_scratch code fuel s a n = Some g -> inv V s P S -> below (tb s) a -> below (tb s) n ->
  0 <= g /\ (g <= free s P S -> inside (bn P) (oval V a) (oval V n) = true /\
    HEval keccak code cd S (Returned (mbytes (bm P) (oval V a) (Z.to_nat (oval V n))))).
Proof.
  intros H I A B. unfold return_scratch in H. destruct (event code fuel s) as [s1 g1] eqn:EV.
  destruct (byte_decode (rest s1)) eqn:D; [discriminate|]. destruct (decode (rest s1)) as [i j] eqn:E. destruct i; try discriminate.
  destruct (stk s1) as [|b [|m r]] eqn:K; try discriminate. destruct (return_cost s1 a n) as [c|] eqn:C; [|discriminate].
  destruct (_ && _) eqn:Q; [|discriminate]. apply some_is in H as <-.
  pose proof (sync_cost _ _ _ _ _ EV). split_checks. subst b m. split; [lia|]. intros L.
  destruct (sync_comes _ _ _ _ _ _ _ _ EV I ltac:(lia)) as (V1 & S1 & I1 & GA & G & R).
  pose proof (i_pc _ _ _ _ I1) as (_ & _ & PE). rewrite PE in D, E. pose proof (i_follows _ _ _ _ I1) as FO.
  rewrite <- (oval_grows _ _ _ _ _ G A), <- (oval_grows _ _ _ _ _ G B), (f_room _ _ _ _ FO).
  destruct (return_cost_is _ _ _ _ _ _ _ C I1 (below_grows _ _ _ _ _ G A) (below_grows _ _ _ _ _ G B)) as [IN CO]. split; [exact IN|].
  apply (R (Some _)). cbn [finishes]. unfold inside in IN. split_checks.
  replace (mbytes (bm P) (oval V1 a) (Z.to_nat (oval V1 n))) with (mbytes (mem S1) (oval V1 a) (Z.to_nat (oval V1 n))).
  - eapply (halts S1 RETURN j); [exact D | exact E | |].
    + rewrite (i_stack _ _ _ _ I1), K. reflexivity.
    + pose proof (i_words _ _ _ _ I1) as MW. pose proof (grown_le _ _ (oval V1 a) (oval V1 n) (proj2 MW)).
      pose proof (free_grown _ _ _ _ (grown (mwords S1) (oval V1 a) (oval V1 n)) (grown (smw s1) (oval V1 a) (oval V1 n)) 0 I1 ltac:(lia) ltac:(lia) ltac:(lia)). lia.
  - apply mbytes_ext. intros x X. apply (i_mem _ _ _ _ I1). pose proof (i_cells _ _ _ _ I1) as CS.
    eapply Forall_impl; [|exact CS]. intros [q o] (_ & Y & _). lia.
Qed.

Ltac cost_of H := match type of H with
  | (let '(_, _) := event ?c ?f ?s in _) = _ => destruct (event c f s) as [? ?] eqn:EV; pose proof (sync_cost _ _ _ _ _ EV)
  | match ?x with _ => _ end = _ => destruct x eqn:?; try discriminate
  | Some (if ?b then _ else _) = _ => destruct b
  | Some (_, _) = Some (_, _) => apply some_pair in H as [_ <-]; split_checks
  | Some _ = Some _ => apply some_is in H as <-; split_checks end.

Lemma store_cost s a x t g : store code fuel s a x = Some (t, g) -> 0 <= g.
Proof. intros H. unfold store in H. repeat cost_of H; lia. Qed.
Lemma store_byte_cost s a x t g : store_byte code fuel s a x = Some (t, g) -> 0 <= g.
Proof. intros H. unfold store_byte in H. repeat cost_of H; lia. Qed.
Lemma copy_cost s a x n t g : copy code fuel s a x n = Some (t, g) -> 0 <= g.
Proof. intros H. unfold copy in H. repeat cost_of H; lia. Qed.
Lemma fork_cost s x t u g : fork code fuel s x = Some (t, u, g) -> 0 <= g.
Proof. intros H. unfold fork in H. repeat cost_of H; lia. Qed.
Lemma fails_cost s g : fails code fuel s = Some g -> 0 <= g.
Proof. intros H. unfold fails in H. repeat cost_of H; lia. Qed.
Lemma return_words_cost s l g : return_words code fuel s l = Some g -> 0 <= g.
Proof. intros H. unfold return_words in H. repeat cost_of H; lia. Qed.
Lemma return_scratch_cost s a n g : return_scratch code fuel s a n = Some g -> 0 <= g.
Proof. intros H. unfold return_scratch in H. repeat cost_of H; lia. Qed.

Lemma enter_cost h c s t g : enter code fuel h c s = Some (t, g) -> 0 <= g.
Proof.
  unfold enter. destruct (sync code fuel (spot h) s) as [s1 g1] eqn:EV. pose proof (sync_cost _ _ _ _ _ EV). destruct (operation _ _ _ _ _) as [d T].
  destruct (_ && _) eqn:E; [|discriminate]. intros H1. apply some_pair in H1 as [_ <-]. apply andb_prop in E as [_ E]. apply Z.leb_le in E. lia.
Qed.
Lemma again_cost h s c x d u e g : again code fuel h s c x d u = Some (e, g) -> 0 <= g.
Proof.
  unfold again. destruct (operation _ _ _ _ _) as [i T]. destruct (operation _ _ _ _ _) as [l T0]. destruct (if to_zero h then _ else _) as [y T'].
  destruct (fork code fuel (with_table u T') y) as [[[t e'] f]|] eqn:F; [|discriminate]. destruct (begins _ _ _ _ _ && _); [|discriminate].
  intros H. apply some_pair in H as [_ <-]. eapply fork_cost, F.
Qed.

Lemma rounds_cost wt w c h s e g i : (forall s r g, wt s = Some (r, g) -> 0 <= g) -> rounds code fuel wt w c h s = Some (e, g, i) -> 0 <= g /\ 0 <= i.
Proof.
  intros W. unfold rounds. destruct (enter code fuel h c s) as [[s1 g1]|] eqn:E; [|discriminate]. apply enter_cost in E.
  destruct (general code h w c s1) as [[x d] s0]. destruct (wt s0) as [[[u|] j]|] eqn:WU; try discriminate. apply W in WU.
  destruct (again code fuel h s1 c x d u) as [[e' l]|] eqn:A; [|discriminate]. apply again_cost in A. intros H. injection H as <- <- <-. lia.
Qed.

Lemma walk_cost b : forall c s r g, walk code fuel turn heads c b s = Some (r, g) -> 0 <= g.
Proof.
  induction b; intros c s r g H; destruct c as [c|]; cbn [walk] in H; try discriminate;
    repeat match type of H with
    | (let '(_, _) := event ?c ?f ?s in _) = _ => destruct (event c f s) as [? ?] eqn:EV; pose proof (sync_cost _ _ _ _ _ EV)
    | match ?x with _ => _ end = _ => destruct x eqn:?; try discriminate
    end;
    repeat match goal with
    | H : store _ _ _ _ _ = Some _ |- _ => apply store_cost in H
    | H : store_byte _ _ _ _ _ = Some _ |- _ => apply store_byte_cost in H
    | H : copy _ _ _ _ _ _ = Some _ |- _ => apply copy_cost in H
    | H : fork _ _ _ _ = Some _ |- _ => apply fork_cost in H
    | H : fails _ _ _ = Some _ |- _ => apply fails_cost in H
    | H : return_words _ _ _ _ = Some _ |- _ => apply return_words_cost in H
    | H : return_scratch _ _ _ _ _ = Some _ |- _ => apply return_scratch_cost in H
    | H : sync _ _ _ _ = (_, _) |- _ => apply sync_cost in H
    | H : rounds _ _ _ _ _ _ _ = Some _ |- _ => apply rounds_cost in H as [? ?]; [|intros; match goal with IH : _ |- _ => eapply IH; eassumption end]
    | H : (_ <=? _) = true |- _ => apply Z.leb_le in H
    | IH : (forall c s r g, walk code fuel turn heads c ?k s = Some (r, g) -> 0 <= g), H : walk code fuel turn heads _ ?k _ = Some _ |- _ => apply IH in H
    end; try assumption; try (apply some_pair in H as [<- <-]); try lia; nia.
Qed.

Definition sound_here (b : body) : Prop := forall s r g V P S, walk code fuel turn heads None b s = Some (r, g) -> inv V s P S ->
  g <= free s P S -> ends b (tb s) r (free s P S - g) V P S.

Definition sound_there (b : body) : Prop := forall c s r g, walk code fuel turn heads (Some c) b s = Some (r, g) -> 0 <= number c ->
  forall V P S o d, ready (base c) V -> lookup (counted c) (known (base c)) = Some o -> 0 <= oval V o ->
  place c (Z.min (oval V o) (number c)) = Some d -> inv V (entered code (base c) d (tb (base c))) P S ->
  g <= free (base c) P S -> ends b (tb (base c)) r (free (base c) P S - g) V P S.

(* ---- loops ---- *)

Lemma inv_budget V s P S n : inv V s P S -> 0 <= n -> inv V s (Bs (bw P) (bm P) (bn P) n) S.
Proof. intros I N. destruct I. split; cbn [bt]; auto. destruct i_follows0. split; assumption. Qed.

Lemma grows_sub T0 T T' V V' : grows T T' V V' -> (next T0 <= next T)%positive -> grows T0 T' V V'.
Proof. intros [A B C] L. split; intros; [apply A | apply B |]; lia. Qed.

Lemma named_in w o ws l : In (w, o) (named ws l) -> lookup w l = Some o.
Proof.
  induction ws as [|[v k] ws IH]; cbn [named]; [intros []|]. destruct (lookup v l) as [p|] eqn:E; [|exact IH].
  intros [Q|Q]; [injection Q as -> ->; exact E | exact (IH Q)].
Qed.

Definition fits_as (index left : operand) (th : list (positive * operand)) '((k, (o, q)) : kind * (operand * operand)) : Prop :=
  match k with Same => o = q | Index => q = index | Left => q = left | New j => lookup j th = Some q end.

Lemma fit_is index left l th th' : fit index left l th = Some th' ->
  (forall j q, lookup j th = Some q -> lookup j th' = Some q) /\ Forall (fits_as index left th') l /\
  (forall T, Forall (fun '(_, (_, q)) => below T q) l -> (forall j q, lookup j th = Some q -> below T q) -> forall j q, lookup j th' = Some q -> below T q).
Proof.
  revert th. induction l as [|[k [o q]] l IH]; intros th H; cbn [fit] in H; [injection H as <-; split; [auto|]; split; [constructor | auto]|].
  assert (N : forall th0, fit index left l th0 = Some th' -> (forall j q, lookup j th = Some q -> lookup j th0 = Some q) ->
    (forall j p, lookup j th0 = Some p -> lookup j th = Some p \/ p = q) -> fits_as index left th0 (k, (o, q)) ->
    (forall j q, lookup j th = Some q -> lookup j th' = Some q) /\ Forall (fits_as index left th') ((k, (o, q)) :: l) /\
    (forall T, Forall (fun '(_, (_, q)) => below T q) ((k, (o, q)) :: l) -> (forall j q, lookup j th = Some q -> below T q) -> forall j q, lookup j th' = Some q -> below T q)).
  { intros th0 F M M' A. destruct (IH _ F) as (B & C & D). split; [auto|]. split.
    - constructor; [destruct k; cbn in *; auto | exact C].
    - intros T X Y. inversion X; subst. apply D; [assumption|]. intros j p E. apply M' in E as [E| ->]; eauto. }
  destruct k as [|j| |].
  - destruct (eqo o q) eqn:E; [|discriminate]. apply eqo_is in E. apply (N th H); cbn; auto.
  - destruct (lookup j th) as [p|] eqn:E.
    + destruct (eqo p q) eqn:E'; [|discriminate]. apply eqo_is in E' as ->. apply (N th H); cbn; auto.
    + apply (N ((j, q) :: th) H); cbn [lookup fits_as].
      * intros i x F. destruct (Pos.eqb_spec j i) as [->|]; [rewrite E in F; discriminate | exact F].
      * intros i x. destruct (Pos.eqb j i); intros F; [injection F as <-; auto | auto].
      * rewrite Pos.eqb_refl. reflexivity.
  - destruct (eqo index q) eqn:E; [|discriminate]. apply eqo_is in E. apply (N th H); cbn; auto.
  - destruct (eqo left q) eqn:E; [|discriminate]. apply eqo_is in E. apply (N th H); cbn; auto.
Qed.

(* Words of a list in both states: the same name, the same value. *)
Definition agree {A} (T : table) (V V' : values) (x : A * operand) (y : A * operand) : Prop :=
  fst x = fst y /\ oval V (snd x) = oval V' (snd y) /\ below T (snd x).

Lemma shaped_agrees {A} T0 T V V' b x y index left th m :
  (forall o, below T0 o -> oval V' o = oval V o /\ below T o) -> oval V' x = oval V index -> below T x -> oval V' y = oval V left -> below T y ->
  (forall j q, (j < m)%positive -> lookup j th = Some q -> oval V' (Atom (b + j)) = oval V q /\ below T (Atom (b + j))) ->
  forall ks (l l' : list (A * operand)), length ks = length l -> map fst l = map fst l' -> Forall (below T0) (map snd l) -> small m ks = true ->
  Forall (fits_as index left th) (combine ks (combine (map snd l) (map snd l'))) -> Forall2 (agree T V' V) (shaped b x y ks l) l'.
Proof.
  intros HO HX HB HY HC HN. induction ks as [|k ks IH]; intros [|[a o] l] [|[a' q] l'] L M B N F; try discriminate; [constructor|].
  cbn [map fst snd combine shaped small forallb length] in *. injection L as L. injection M as <- M. apply andb_prop in N as [N N'].
  inversion B as [|? ? B0 B1]; subst. inversion F as [|? ? F0 F1]; subst. constructor; [|exact (IH _ _ L M B1 N' F1)].
  split; [reflexivity|]. destruct k as [|j| |]; cbn [fits_as word_of snd] in *.
  - subst q. apply HO, B0.
  - apply Pos.ltb_lt in N. apply (HN j q N F0).
  - subst q. auto.
  - subst q. auto.
Qed.

Lemma agree_names {A} T V V' (l l' : list (A * operand)) : Forall2 (agree T V V') l l' -> map fst l = map fst l'.
Proof. induction 1 as [|[a o] [a' q] l l' (E & _) _ IH]; cbn [map fst] in *; congruence. Qed.
Lemma agree_values {A} T V V' (l l' : list (A * operand)) : Forall2 (agree T V V') l l' -> map (oval V) (map snd l) = map (oval V') (map snd l').
Proof. induction 1 as [|[a o] [a' q] l l' (_ & E & _) _ IH]; cbn [map snd] in *; congruence. Qed.
Lemma agree_below {A} T V V' (l l' : list (A * operand)) : Forall2 (agree T V V') l l' -> Forall (below T) (map snd l).
Proof. induction 1 as [|[a o] [a' q] l l' (_ & _ & B) _ IH]; cbn [map snd] in *; constructor; assumption. Qed.
Lemma agree_in {A} T V V' (l l' : list (A * operand)) a o : Forall2 (agree T V V') l l' -> In (a, o) l ->
  exists q, In (a, q) l' /\ oval V o = oval V' q /\ below T o.
Proof.
  induction 1 as [|[b p] [b' q] l l' (E & F & B) _ IH]; [intros []|]. cbn [fst snd] in *. subst b'. intros [X|X].
  - injection X as -> ->. exists q. cbn; auto.
  - destruct (IH X) as (r & Y & Z). exists r. cbn; auto.
Qed.
Lemma beside_names x l l' : map fst l = map fst l' -> beside x l -> beside x l'.
Proof.
  unfold beside. revert l'. induction l as [|[a o] l IH]; intros [|[b p] l'] E H; try discriminate; constructor; cbn [map fst] in E; injection E as -> E; inversion H; auto.
Qed.
Lemma map_pair_tt (l : list operand) : map snd (map (pair tt) l) = l.
Proof. rewrite map_map. apply map_id. Qed.
Lemma map_tt (l l' : list operand) : length l = length l' -> map (fun _ => tt) l = map (fun _ => tt) l'.
Proof. revert l'. induction l; intros [|? l'] H; try discriminate; cbn; [reflexivity|]. f_equal. apply IHl. cbn in H. lia. Qed.
Lemma combine_app_Forall {A} (P : A -> Prop) l l' l'' : Forall P (l ++ l' ++ l'') -> Forall P l /\ Forall P l' /\ Forall P l''.
Proof. rewrite !Forall_app. auto. Qed.

(* At the head, in the turn with this number. *)
Lemma begins_inv h w c s t V P S index left v x d G : ready s V -> 0 <= room s -> below (tb s) c -> inv V t P S -> begins h s t index left = true ->
  below (tb t) left -> oval V index = v -> oval V left = (v - oval V c) mod W -> 0 <= v < oval V c -> general code h w c s = (x, d, G) ->
  exists V', grows (tb s) (tb G) V V' /\ ready s V' /\ inv V' G (Bs (set (bw P) w v) (bm P) (bn P) (bt P)) S /\
    below (tb G) x /\ oval V' x = v /\ below (tb G) d /\ oval V' d = (v - oval V c) mod W.
Proof.
  intros (K & BS & BC & BK) RM C I BE BL VI VL VC GE. unfold begins in BE. splits.
  repeat match goal with
  | H : (_ <=? _) = true |- _ => apply Z.leb_le in H | H : (_ =? _) = true |- _ => apply Z.eqb_eq in H
  | H : Nat.eqb _ _ = true |- _ => apply Nat.eqb_eq in H
  | H : eq_list Z.eqb _ _ = true |- _ => apply eq_list_is in H; [|intros ? ?; apply Z.eqb_eq]
  | H : eq_list Pos.eqb _ _ = true |- _ => apply eq_list_is in H; [|intros ? ?; apply Pos.eqb_eq] end.
  destruct (fit index left (facing h s t) []) as [th|] eqn:FT; [|discriminate]. apply fit_is in FT as (_ & FT & FB). unfold facing in FT.
  apply combine_app_Forall in FT as (FS & FC & FK).
  match goal with H : small _ _ = true |- _ => unfold small in H; rewrite !forallb_app in H; apply andb_prop in H as [SS H]; apply andb_prop in H as [SC SK] end.
  fold (small (news h) (on_stack h)) in SS. fold (small (news h) (on_cells h)) in SC. fold (small (news h) (map snd (on_known h))) in SK.
  set (b := next (tb s)) in *.
  assert (THB : forall j q, lookup j th = Some q -> below (tb t) q).
  { apply (FB (tb t)); [|discriminate]. unfold facing. rewrite !Forall_app.
    assert (IN : forall (ks : list kind) (os qs : list operand), Forall (below (tb t)) qs -> Forall (fun '(_, (_, q)) => below (tb t) q) (combine ks (combine os qs))).
    { intros ks os qs A. apply Forall_forall. intros [k [o q]] X. apply in_combine_r in X. apply in_combine_r in X.
      rewrite Forall_forall in A. apply A, X. }
    split; [apply IN, I|]. split; apply IN; rewrite Forall_map; apply Forall_forall.
    - intros [a o] X. pose proof (i_cells _ _ _ _ I) as CS. rewrite Forall_forall in CS. apply (CS _ X).
    - intros [u o] X. apply named_in, lookup_in in X. pose proof (f_known _ _ _ _ (i_follows _ _ _ _ I)) as FF. rewrite Forall_forall in FF. apply (FF _ X). }
  set (T1 := roomy (tb s) (news h)) in *.
  pose (V3 := Values (fun i => if Pos.ltb i b then wv V i else if Pos.eqb i b then v else match lookup (i - b) th with Some q => oval V q | None => 0 end)
    (fun g => if Pos.eqb g b then bm P else sv V g)).
  assert (N1 : next T1 = (b + news h)%positive) by reflexivity.
  assert (G1 : grows (tb s) T1 V V3).
  { split; cbn; intros; [| | lia].
    - rewrite (proj2 (Pos.ltb_lt i b)) by assumption. reflexivity.
    - destruct (Pos.eqb_spec g b); [lia | reflexivity]. }
  assert (PB : forall y, is_byte (bm P y)).
  { intros y. rewrite <- (f_state _ _ _ _ (i_follows _ _ _ _ I)). apply (t_bytes _ _ (i_tok _ _ _ _ I)). }
  assert (K3 : tok V3 T1).
  { split; cbn -[M.find].
    - intros i. destruct (Pos.ltb i b); [apply (t_words _ _ K)|]. pose proof (oval_word _ _ _ K C). destruct (Pos.eqb i b); [split; [apply VC|]; unfold is_word in *; lia|].
      destruct (lookup (i - b) th) as [q|] eqn:E; [eapply oval_word; [apply I | eapply THB, E] | split; [lia | reflexivity]].
    - intros g y. destruct (Pos.eqb g b); [apply PB | apply (t_bytes _ _ K)].
    - intros i m F. destruct (t_nodes _ _ K _ _ F) as [N B]. rewrite (proj2 (Pos.ltb_lt i b)) by (eapply t_next; eassumption).
      split; [rewrite (node_grows _ _ _ _ _ G1 B); exact N | eapply node_below_grows; eassumption].
    - intros i m F. pose proof (t_next _ _ K _ _ F) as X. fold b in X. lia.
    - intros i z F. destruct (t_limits _ _ K _ _ F) as [Y X]. fold b in X. rewrite (proj2 (Pos.ltb_lt i b)) by exact X. lia. }
  unfold general in GE. apply pair_equal_spec in GE as [GE GE']. apply pair_equal_spec in GE as [X0 Y0]. subst x d.
  destruct (intern_makes T1 V3 (NOp FMod (Atom b) c (Num 0)) K3) as (Vx & Gx & Kx & X & BX).
  { split; [cbn; lia|]. split; [eapply below_grows; eassumption | split; [lia | reflexivity]]. }
  fold T1 b in GE' |- *. destruct (intern T1 (NOp FMod (Atom b) c (Num 0))) as [x' Tx]. cbn [fst snd] in *.
  assert (VX : oval Vx x' = v).
  { rewrite X. cbn [nval apply oval wv V3]. rewrite (oval_grows _ _ _ _ _ G1 C). rewrite Pos.ltb_irrefl, Pos.eqb_refl.
    destruct (Z.eqb_spec (oval V c) 0); [lia|]. apply Z.mod_small. lia. }
  destruct (operation_makes Tx Vx FSub x' c (Num 0) Kx BX (below_grows _ _ _ _ _ (grows_trans _ _ _ _ _ _ G1 Gx) C) (conj (Z.le_refl 0) W_pos)) as (V' & Gy & K' & YD & BY).
  destruct (operation Tx FSub x' c (Num 0)) as [y' T2]. cbn [fst snd] in *. unfold general_with in GE'. cbn [fst snd] in GE'. fold b in GE'. subst G.
  rewrite VX, (oval_grows _ _ _ _ _ (grows_trans _ _ _ _ _ _ G1 Gx) C) in YD. cbn [apply] in YD. pose proof (grows_trans _ _ _ _ _ _ Gx Gy) as G2.
  rewrite <- (oval_grows _ _ _ _ _ Gy BX) in VX. apply (below_grows _ _ _ _ _ Gy) in BX.
  pose proof (grows_trans _ _ _ _ _ _ G1 G2) as G3.
  assert (HO : forall o, below (tb s) o -> oval V' o = oval V o /\ below T2 o).
  { intros o B. split; [eapply oval_grows | eapply below_grows]; eassumption. }
  assert (HN : forall j q, (j < news h)%positive -> lookup j th = Some q -> oval V' (Atom (b + j)) = oval V q /\ below T2 (Atom (b + j))).
  { intros j q J E. assert (B1 : below T1 (Atom (b + j))) by (cbn; lia). split; [|exact (below_grows _ _ _ _ _ G2 B1)].
    rewrite (oval_grows _ _ _ _ _ G2 B1). cbn [oval wv V3]. destruct (Pos.ltb_spec (b + j) b); [lia|].
    destruct (Pos.eqb_spec (b + j) b); [lia|]. replace (b + j - b)%positive with j by lia. rewrite E. reflexivity. }
  pose proof (fun A => @shaped_agrees A (tb s) T2 V V' b x' y' index left th (news h) HO ltac:(congruence) BX ltac:(congruence) BY HN) as SH.
  pose proof (SH unit (on_stack h) (map (pair tt) (stk s)) (map (pair tt) (stk t))) as A1. rewrite !map_pair_tt, !map_length, !map_map in A1. cbn [fst] in A1.
  specialize (A1 ltac:(assumption) ltac:(apply map_tt; congruence) BS SS FS).
  assert (A2 : Forall2 (agree T2 V' V) (shaped b x' y' (on_cells h) (cells s)) (cells t)).
  { apply SH; auto. rewrite Forall_map. eapply Forall_impl; [|exact BC]. intros [a o]; auto. }
  assert (A3 : Forall2 (agree T2 V' V) (shaped b x' y' (map snd (on_known h)) (named (on_known h) (known s))) (named (on_known h) (known t))).
  { apply SH; auto.
    - rewrite map_length, <- (map_length fst (named _ _)). rewrite <- (map_length fst (on_known h)). congruence.
    - congruence.
    - rewrite Forall_map. apply Forall_forall. intros [u o] Y. apply named_in, lookup_in in Y. rewrite Forall_forall in BK. apply (BK _ Y). }
  exists V'. split; [exact G3|]. split; [split; [exact (tok_shrinks _ _ _ _ G3 K (K' : tok V' T2)) | auto]|]. split; [|auto 6].
  rewrite <- VX. refine (inv_bind V' (Sym T2 _ _ _ _ _ b (room s) (paid h)) (Bs (bw P) (bm P) (bn P) (bt P)) S w x' _ BX).
  pose proof I as I'. destruct I. destruct i_pc0 as (PA & PN & PR).
  split; cbn [tb stk cells smw at_ rest room stack mem mwords pc known gen bw bm bn bt] in *; auto.
  - split; cbn [known gen room tb bw bm bn].
    + apply Forall_forall. intros [u o] Y. destruct (agree_in _ _ _ _ _ _ _ A3 Y) as (q & Z & E & B). split; [|exact B].
      apply named_in, lookup_in in Z. pose proof (f_known _ _ _ _ i_follows0) as FF. rewrite Forall_forall in FF. apply FF in Z as [Z _]. congruence.
    + destruct G2 as [_ _ GN]. cbn in GN. lia.
    + intros y. rewrite (g_states _ _ _ _ G2) by (cbn; lia). cbn. rewrite Pos.eqb_refl. reflexivity.
    + rewrite (f_room _ _ _ _ i_follows0). congruence.
  - rewrite (agree_values _ _ _ _ _ A1), map_pair_tt. exact i_stack0.
  - exact (agree_below _ _ _ _ _ A1).
  - apply Forall_forall. intros [a o] Y. destruct (agree_in _ _ _ _ _ _ _ A2 Y) as (q & Z & E & B).
    rewrite Forall_forall in i_cells0. apply i_cells0 in Z as (Z1 & Z2 & Z3 & _). split; [exact Z1|]. split; [cbn [room]; lia|]. split; [congruence | exact B].
  - intros y Y. apply i_mem0. eapply beside_names; [|exact Y]. exact (agree_names _ _ _ _ _ A2).
  - lia.
  - split; [congruence|]. split; [lia|]. rewrite PA. congruence.
Qed.

Ltac frees := unfold free in *; cbn [smw bt with_table bind bound tb gas mwords onward entered renewed] in *; lia.

(* A write, and all that comes after it. *)
Lemma write_ends k V s P S a l s1 g1 h r V0 T0 f : sound_here k -> walk code fuel turn heads None k s1 = Some (r, h) ->
  writes V s P S a l s1 g1 -> g1 + h <= free s P S -> grows T0 (tb s) V0 V -> f = free s P S - (g1 + h) ->
  match written P a l with
  | Some P' => match bytes_mean keccak cd k P' with
    | inl P'' => exists s' V' S', r = Some s' /\ inv V' s' P'' S' /\ f <= free s' P'' S' /\ grows T0 (tb s') V0 V' /\ reaches S S'
    | inr o => finishes S o end
  | None => finishes S (Some Unknown)
  end.
Proof.
  intros IH H (V1 & P' & S1 & E & I & GA & G & R) L G0 ->. rewrite E. specialize (IH _ _ _ _ _ _ H I ltac:(lia)). unfold ends in IH.
  destruct (bytes_mean keccak cd k P') as [P''|o]; [|apply R, IH].
  destruct IH as (s' & V' & S' & Q & I' & GA' & G' & R'). exists s', V', S'.
  split; [exact Q|]. split; [exact I'|]. split; [lia|].
  split; [eapply grows_trans; [exact G0|]; eapply grows_trans; eassumption|]. intros o O. apply R, R', O.
Qed.

(* All turns that are left. *)
Lemma turns_end t w c h s x d s0 u i e j ch per :
  sound_here t -> general code h w c s = (x, d, s0) -> walk code fuel turn heads None t s0 = Some (Some u, i) -> again code fuel h s c x d u = Some (e, j) ->
  below (tb s) c -> 0 <= room s -> 0 <= ch -> 0 <= per -> i + j <= per + turn * ch ->
  forall m v V P S, inv V s0 (Bs (set (bw P) w v) (bm P) (bn P) (bt P)) S -> ready s V -> grows (tb s) (tb s0) V V -> below (tb s0) x -> oval V x = v ->
  below (tb s0) d -> oval V d = (v - oval V c) mod W -> 0 <= v -> (0 < m)%nat -> v + Z.of_nat m = oval V c -> Z.of_nat m * per <= free s0 P S ->
  match loop ch (bytes_mean keccak cd t) w v m P with
  | inl P' => exists V' S', inv V' e P' S' /\ free s0 P S - Z.of_nat m * per <= free e P' S' /\ grows (tb s) (tb e) V V' /\ reaches S S'
  | inr o => finishes S o
  end.
Proof.
  intros IHt GE WT A BC RM CH PER IJ. induction m as [|m IH]; intros v V P S I RE G0 BX XV BD DV V0 M VM L; [lia|]. clear M. cbn [loop].
  destruct (Z.ltb_spec (bt P) ch); [exact Logic.I|]. pose proof (again_cost _ _ _ _ _ _ _ _ A) as J. pose proof (walk_cost _ _ _ _ _ WT) as I0.
  set (Pv := Bs (set (bw P) w v) (bm P) (bn P) (bt P - ch)).
  assert (IV : inv V s0 Pv S) by (apply (inv_budget _ _ _ _ (bt P - ch)) in I; [exact I | lia]).
  assert (FV : free s0 Pv S = free s0 P S + turn * ch) by (unfold free; cbn [bt Pv]; nia).
  pose proof (IHt _ _ _ _ _ _ WT IV ltac:(nia)) as Q. unfold ends in Q. destruct (bytes_mean keccak cd t Pv) as [P1|o]; [|exact Q].
  destruct Q as (u' & V1 & S1 & Q & I1 & GA1 & G1 & R1). injection Q as <-. unfold again in A.
  pose proof (below_grows _ _ _ _ _ G1 BX) as BX1. pose proof (grows_trans _ _ _ _ _ _ G0 G1) as GC. pose proof (below_grows _ _ _ _ _ GC BC) as BC1.
  pose proof (oval_word _ _ _ (proj1 RE) BC) as CW. unfold is_word in CW.
  assert (ONE : forall T, below T (Num 1)) by (intros T; split; [lia | reflexivity]).
  assert (ZERO : forall T, below T (Num 0)) by (intros T; split; [lia | reflexivity]).
  destruct (operation_makes (tb u) V1 FAdd (Num 1) x (Num 0) (i_tok _ _ _ _ I1) (ONE _) BX1 (ZERO _)) as (V2 & G2 & K2 & X2 & B2).
  destruct (operation (tb u) FAdd (Num 1) x (Num 0)) as [next T2]. cbn [fst snd] in *.
  rewrite (oval_grows _ _ _ _ _ G1 BX), XV in X2. cbn [apply oval] in X2. rewrite Z.mod_small in X2 by lia.
  pose proof (below_grows _ _ _ _ _ G2 (below_grows _ _ _ _ _ G1 BD)) as BD2. pose proof (grows_trans _ _ _ _ _ _ GC G2) as G02.
  destruct (operation_makes T2 V2 FAdd (Num 1) d (Num 0) K2 (ONE _) BD2 (ZERO _)) as (Vd & Gd & Kd & Xd & Bd).
  destruct (operation T2 FAdd (Num 1) d (Num 0)) as [d' Td]. cbn [fst snd] in *.
  rewrite (oval_grows _ _ _ _ _ G2 (below_grows _ _ _ _ _ G1 BD)), (oval_grows _ _ _ _ _ G1 BD), DV in Xd. cbn [apply oval] in Xd.
  rewrite Z.add_mod_idemp_r in Xd by lia. pose proof (grows_trans _ _ _ _ _ _ G02 Gd) as G0d.
  assert (TEST : exists V3, grows Td (snd (if to_zero h then (d', Td) else operation Td FLt next c (Num 0))) Vd V3 /\
    tok V3 (snd (if to_zero h then (d', Td) else operation Td FLt next c (Num 0))) /\
    below (snd (if to_zero h then (d', Td) else operation Td FLt next c (Num 0))) (fst (if to_zero h then (d', Td) else operation Td FLt next c (Num 0))) /\
    (oval V3 (fst (if to_zero h then (d', Td) else operation Td FLt next c (Num 0))) =? 0) = negb (1 + v <? oval V c)).
  { destruct (to_zero h); cbn [fst snd].
    - exists Vd. split; [apply grows_refl|]. split; [exact Kd|]. split; [exact Bd|]. rewrite Xd. destruct (Z.ltb_spec (1 + v) (oval V c)); cbn [negb].
      + apply Z.eqb_neq. replace (1 + (v - oval V c)) with (W + (1 + (v - oval V c)) + -1 * W) by lia. rewrite Z.mod_add, Z.mod_small by lia. lia.
      + replace (1 + (v - oval V c)) with 0 by lia. reflexivity.
    - destruct (operation_makes Td Vd FLt next c (Num 0) Kd (below_grows _ _ _ _ _ Gd B2) (below_grows _ _ _ _ _ G0d BC) (ZERO _)) as (V3 & G3 & K3 & X3 & B3).
      exists V3. split; [exact G3|]. split; [exact K3|]. split; [exact B3|]. rewrite X3. cbn [apply].
      rewrite (oval_grows _ _ _ _ _ Gd B2), X2, (oval_grows _ _ _ _ _ G0d BC). destruct (1 + v <? oval V c); reflexivity. }
  destruct TEST as (V3 & G3' & K3 & B3 & X3). destruct (if to_zero h then (d', Td) else operation Td FLt next c (Num 0)) as [y T3]. cbn [fst snd] in *.
  pose proof (grows_trans _ _ _ _ _ _ Gd G3') as G3.
  pose proof (inv_table _ _ _ _ _ _ I1 (grows_trans _ _ _ _ _ _ G2 G3) K3) as I3.
  destruct (fork code fuel (with_table u T3) y) as [[[back e'] j']|] eqn:FK; [|discriminate]. destruct (_ && _) eqn:BE; [|discriminate].
  apply some_pair in A as [<- <-]. apply andb_prop in BE as [BE MW]. apply Z.leb_le in MW.
  destruct (fork_comes _ _ _ _ _ _ _ _ I3 B3 FK) as [_ K]. change (free (with_table u T3) P1 S1) with (free u P1 S1) in K. specialize (K ltac:(nia)).
  destruct K as (V4 & S2 & I4 & GA4 & G4 & R4). change (free (with_table u T3) P1 S1) with (free u P1 S1) in GA4. cbn [tb with_table] in G4.
  pose proof (grows_trans _ _ _ _ _ _ (grows_trans _ _ _ _ _ _ G2 G3) G4) as G24. pose proof (grows_trans _ _ _ _ _ _ GC G24) as GB.
  rewrite X3 in *. destruct (Z.ltb_spec (1 + v) (oval V c)) as [MORE|LAST]; cbn [negb] in *.
  - destruct m as [|m]; [lia|].
    pose proof (grows_trans _ _ _ _ _ _ G3 G4) as G34.
    assert (NV : oval V4 next = v + 1) by (rewrite (oval_grows _ _ _ _ _ G34 B2), X2; lia).
    assert (VN : 0 <= v + 1 < oval V4 c) by (rewrite (oval_grows _ _ _ _ _ GB BC); lia).
    pose proof (grows_trans _ _ _ _ _ _ G3' G4) as Gd4.
    assert (DN : oval V4 d' = (v + 1 - oval V4 c) mod W) by (rewrite (oval_grows _ _ _ _ _ Gd4 Bd), Xd, (oval_grows _ _ _ _ _ GB BC); f_equal; lia).
    destruct (begins_inv h w c s back V4 P1 S2 next d' (v + 1) x d s0 (conj (tok_shrinks _ _ _ _ GB (proj1 RE) (i_tok _ _ _ _ I4)) (proj2 RE)) RM BC I4 BE
      (below_grows _ _ _ _ _ Gd4 Bd) NV DN VN GE) as (V5 & G5 & RE5 & I5 & BX5 & X5 & BD5 & D5).
    assert (G05 : grows (tb s) (tb s0) V V5).
    { destruct GB as [A1 A2 A3], G5 as [C1 C2 C3]. split; intros; [rewrite C1, A1 | rewrite C2, A2 |]; auto. }
    assert (F5 : free back P1 S2 <= free s0 P1 S2).
    { assert (smw s0 = paid h) as E0 by (unfold general in GE; apply pair_equal_spec in GE as [_ <-]; reflexivity).
      unfold free. rewrite E0. pose proof (cmem_le (paid h) (smw back)). pose proof (i_words _ _ _ _ I5). rewrite E0 in *. lia. }
    pose proof (oval_grows _ _ _ _ _ G05 BC) as C5.
    specialize (IH (v + 1) V5 P1 S2 I5 RE5). assert (GG : grows (tb s) (tb s0) V5 V5) by (split; intros; auto; apply G05).
    rewrite (oval_grows _ _ _ _ _ GB BC), <- C5 in D5.
    specialize (IH GG BX5 X5 BD5 D5 ltac:(lia) ltac:(lia) ltac:(lia) ltac:(nia)).
    destruct (loop ch (bytes_mean keccak cd t) w (v + 1) (Datatypes.S m) P1) as [P2|o]; [|apply R1, R4, IH].
    destruct IH as (V' & S' & I' & GA' & G' & R'). exists V', S'. split; [exact I'|]. split; [nia|]. split; [|intros o O; apply R1, R4, R', O].
    destruct G' as [D1 D2 D3], G05 as [C1 C2 C3]. split; intros; [rewrite D1, C1 | rewrite D2, C2 |]; auto.
  - assert (m = 0)%nat as -> by lia. cbn [loop]. exists V4, S2. split; [exact I4|]. split; [nia|]. split; [exact GB|]. intros o O. apply R1, R4, O.
Qed.

(* A loop, and all that comes after it. *)
Lemma rounds_end t k w c h s e g i r j ch per V P S :
  sound_here t -> sound_here k -> rounds code fuel (walk code fuel turn heads None t) w c h s = Some (e, g, i) ->
  walk code fuel turn heads None k e = Some (r, j) -> inv V s P S -> below (tb s) c -> 1 <= oval V c -> 0 <= ch -> 0 <= per -> i <= per + turn * ch ->
  g + oval V c * per + j <= free s P S ->
  match match loop ch (bytes_mean keccak cd t) w 0 (Z.to_nat (oval V c)) P with inl s => bytes_mean keccak cd k s | inr o => inr o end with
  | inl P' => exists s' V' S', r = Some s' /\ inv V' s' P' S' /\ free s P S - (g + oval V c * per + j) <= free s' P' S' /\ grows (tb s) (tb s') V V' /\ reaches S S'
  | inr o => finishes S o
  end.
Proof.
  intros IHt IHk H WK I BC C1 CH PER LE L. unfold rounds, enter in H. destruct (sync code fuel (spot h) s) as [sy g1] eqn:SY.
  destruct (operation (tb sy) FSub (Num 0) c (Num 0)) as [d0 T] eqn:OP. set (s1 := with_table sy T) in *.
  destruct (_ && _) eqn:BE; [|discriminate]. apply andb_prop in BE as [BE MW]. apply Z.leb_le in MW.
  destruct (general code h w c s1) as [[x d] s0] eqn:GE. destruct (walk code fuel turn heads None t s0) as [[[u|] a]|] eqn:WT; try discriminate.
  destruct (again code fuel h s1 c x d u) as [[e' b]|] eqn:A; [|discriminate]. injection H as <- <- <-.
  change (smw s1) with (smw sy) in *. cbn [smw with_table] in *. pose proof (walk_cost _ _ _ _ _ WK). pose proof (sync_cost _ _ _ _ _ SY).
  destruct (sync_comes _ _ _ _ _ _ _ _ SY I ltac:(nia)) as (Vy & S1 & Iy & GA1 & Gy & R1).
  assert (ZERO : forall T, below T (Num 0)) by (intros T'; split; [lia | reflexivity]).
  destruct (operation_makes (tb sy) Vy FSub (Num 0) c (Num 0) (i_tok _ _ _ _ Iy) (ZERO _) (below_grows _ _ _ _ _ Gy BC) (ZERO _)) as (V1 & Gs & K1 & D0 & B0).
  rewrite OP in *. cbn [fst snd] in *. pose proof (inv_table _ _ _ _ _ _ Iy Gs K1) as I1. fold s1 in I1.
  pose proof (grows_trans _ _ _ _ _ _ Gy Gs : grows (tb s) (tb s1) V V1) as G1. pose proof (below_grows _ _ _ _ _ G1 BC) as BC1.
  change (free sy P S1) with (free s1 P S1) in GA1. rewrite (oval_grows _ _ _ _ _ Gy BC) in D0. cbn [apply oval] in D0.
  assert (RE : ready s1 V1).
  { split; [apply I1|]. split; [apply I1|]. split; apply Forall_forall.
    - intros [p o] X. pose proof (i_cells _ _ _ _ I1) as CS. rewrite Forall_forall in CS. apply (CS _ X).
    - intros [v o] X. pose proof (f_known _ _ _ _ (i_follows _ _ _ _ I1)) as FK. rewrite Forall_forall in FK. apply (FK _ X). }
  pose proof (oval_grows _ _ _ _ _ G1 BC) as CE.
  rewrite <- CE in D0.
  destruct (begins_inv h w c s1 s1 V1 P S1 (Num 0) d0 0 x d s0 RE (i_room _ _ _ _ I1) BC1 I1 BE B0 eq_refl D0 ltac:(rewrite CE; lia) GE)
    as (V2 & G2 & RE2 & I2 & BX & X0 & BD & DV).
  rewrite <- (oval_grows _ _ _ _ _ (grows_sub _ _ _ _ _ G2 (Pos.le_refl _)) BC1) in DV.
  assert (F2 : free s0 P S1 = free s P S - (g1 + (cmem (paid h) - cmem (smw sy)))).
  { assert (smw s0 = paid h) as E0 by (unfold general in GE; apply pair_equal_spec in GE as [_ <-]; reflexivity). change (free s1 P S1) with (free sy P S1) in GA1. unfold free in *. cbn [smw s1 with_table] in *. rewrite E0. lia. }
  assert (GG : grows (tb s1) (tb s0) V2 V2) by (split; intros; auto; apply G2).
  pose proof (turns_end t w c h s1 x d s0 u a e' b ch per IHt GE WT A BC1 (i_room _ _ _ _ I1) CH PER LE (Z.to_nat (oval V c)) 0 V2 P S1 I2 RE2 GG BX X0
    BD DV ltac:(lia) ltac:(lia)) as Q. rewrite (oval_grows _ _ _ _ _ (grows_trans _ _ _ _ _ _ G1 (grows_sub _ _ _ _ _ G2 (Pos.le_refl _))) BC), Z2Nat.id in Q by lia.
  specialize (Q ltac:(lia) ltac:(lia)). destruct (loop ch (bytes_mean keccak cd t) w 0 (Z.to_nat (oval V c)) P) as [P1|o]; [|apply R1, Q].
  destruct Q as (V3 & S3 & I3 & GA3 & G3 & R3).
  pose proof (IHk _ _ _ _ _ _ WK I3 ltac:(lia)) as Q. unfold ends in Q. destruct (bytes_mean keccak cd k P1) as [P2|o]; [|apply R1, R3, Q].
  destruct Q as (s' & V' & S' & -> & I' & GA' & G' & R'). exists s', V', S'. split; [reflexivity|]. split; [exact I'|]. split; [lia|].
  split; [|intros o O; apply R1, R3, R', O]. eapply grows_trans; [exact G1|]. eapply grows_trans; [|exact G'].
  destruct G3 as [D1 D2 D3], G2 as [E1 E2 E3]. split; intros; [rewrite D1, E1 | rewrite D2, E2 |]; auto.
Qed.

Theorem walk_sound b : sound_here b /\ sound_there b.
Proof.
  induction b as [|w x k IH|n k IH|a x k IH|a x k IH|a x n k IH|w a n k IH|x k IH|x t IHt u IHu k IH|w n t IHt k IH|w j t IHt k IH|w n t IHt k IH|l|a n];
    try (assert (IHk := proj1 IH)); (split; [intros s r g V P S H I L; cbn [walk] in H|]);
    try (intros c s r g H; cbn [walk] in H; discriminate H).
  - (* Done *) injection H as <- <-. exists s, V, S. split; [reflexivity|]. split; [exact I|]. split; [lia|].
    split; [apply grows_refl | intros o; auto].
  - (* Done of turns *) intros c s r g H N V P S o d RE LO O PL I L. cbn [walk] in H. destruct (place c 0) as [d'|] eqn:P0; [|discriminate].
    destruct (Z.eqb_spec (number c) 0) as [E|]; [|discriminate]. injection H as <- <-.
    rewrite E in PL. replace (Z.min (oval V o) 0) with 0 in PL by lia. rewrite P0 in PL. injection PL as ->.
    exists (entered code (base c) d (tb (base c))), V, S. split; [reflexivity|]. split; [exact I|]. split; [frees|].
    split; [split; cbn; auto; lia | intros q; auto].
  - (* Bind *) destruct (interp s (tb s) x) as [[o T]|] eqn:E; [|discriminate].
    destruct (interp_inv _ _ _ _ _ _ _ I E) as (V' & G & I' & B & X).
    pose proof (IHk _ _ _ _ _ _ H (inv_bind _ _ _ _ w o I' B) L) as K.
    apply (ends_grows _ _ _ _ _ _ _ _ _ G) in K. unfold ends in *. cbn [bytes_mean]. rewrite X. exact K.
  - (* Scratch *) destruct (forallb _ _) eqn:F; [|discriminate].
    refine (IHk _ _ _ V (Bs (bw P) (bm P) (Z.max (bn P) n) (bt P)) S H _ L).
    rewrite forallb_forall in F. destruct I. split; cbn [tb stk cells smw at_ rest room] in *; auto.
    + destruct i_follows0. split; cbn [known gen room bw bm bn] in *; auto. congruence.
    + rewrite Forall_forall in *. intros [a o] X. pose proof (F _ X) as Y. apply Z.leb_le in Y.
      apply i_cells0 in X as (X1 & X2 & X3 & X4). split; [exact X1|]. split; [cbn [room]; lia|]. split; assumption.
    + lia.
  - (* SetScratch *) destruct (interp s (tb s) a) as [[a' T]|] eqn:E1; [|discriminate].
    destruct (interp s T x) as [[x' T']|] eqn:E2; [|discriminate]. apply after_is in H as (s1 & g1 & h & H1 & H2 & ->).
    destruct (interp_inv _ _ _ _ _ _ _ I E1) as (V1 & G1 & I1 & B1 & X1).
    destruct (interp_next _ _ _ _ _ _ _ _ I1 E2) as (V2 & G2 & I2 & B2 & X2). pose proof (walk_cost _ _ _ _ _ H2).
    destruct (store_writes _ _ _ _ _ _ _ _ I2 (below_grows _ _ _ _ _ G2 B1) B2 H1) as [N K].
    pose proof (write_ends k _ _ _ _ _ _ _ _ _ _ _ _ _ IHk H2 (K ltac:(frees)) L (grows_trans _ _ _ _ _ _ G1 G2) eq_refl) as Q.
    unfold ends. cbn [bytes_mean]. rewrite X1, X2, <- (oval_grows _ _ _ _ _ G2 B1).
    destruct (written P _ _); exact Q.
  - (* SetByte *) destruct (interp s (tb s) a) as [[a' T]|] eqn:E1; [|discriminate].
    destruct (interp s T x) as [[x' T']|] eqn:E2; [|discriminate]. apply after_is in H as (s1 & g1 & h & H1 & H2 & ->).
    destruct (interp_inv _ _ _ _ _ _ _ I E1) as (V1 & G1 & I1 & B1 & X1).
    destruct (interp_next _ _ _ _ _ _ _ _ I1 E2) as (V2 & G2 & I2 & B2 & X2). pose proof (walk_cost _ _ _ _ _ H2).
    destruct (store_byte_writes _ _ _ _ _ _ _ _ I2 (below_grows _ _ _ _ _ G2 B1) B2 H1) as [N K].
    pose proof (write_ends k _ _ _ _ _ _ _ _ _ _ _ _ _ IHk H2 (K ltac:(frees)) L (grows_trans _ _ _ _ _ _ G1 G2) eq_refl) as Q.
    unfold ends. cbn [bytes_mean]. rewrite X1, X2, <- (oval_grows _ _ _ _ _ G2 B1).
    destruct (written P _ _); exact Q.
  - (* Copy *) destruct (interp s (tb s) a) as [[a' T]|] eqn:E1; [|discriminate].
    destruct (interp s T x) as [[x' T']|] eqn:E2; [|discriminate]. destruct n; try discriminate.
    apply after_is in H as (s1 & g1 & h & H1 & H2 & ->).
    destruct (interp_inv _ _ _ _ _ _ _ I E1) as (V1 & G1 & I1 & B1 & X1).
    destruct (interp_next _ _ _ _ _ _ _ _ I1 E2) as (V2 & G2 & I2 & B2 & X2). pose proof (walk_cost _ _ _ _ _ H2).
    destruct (copy_writes _ _ _ _ _ _ _ _ _ I2 (below_grows _ _ _ _ _ G2 B1) B2 H1) as (N & NN & K).
    pose proof (K ltac:(frees)) as WR.
    assert (IN : inside (bn P) (oval V2 a') n = true).
    { destruct WR as (? & ? & ? & WW & _). unfold written in WW. destruct (inside _ _ _) eqn:IN; [|discriminate].
      unfold cdbytes in IN. rewrite take_length, Z2Nat.id in IN by exact NN. exact IN. }
    pose proof (write_ends k _ _ _ _ _ _ _ _ _ _ _ _ _ IHk H2 WR L (grows_trans _ _ _ _ _ _ G1 G2) eq_refl) as Q.
    unfold ends. cbn [bytes_mean value]. rewrite X1, X2, <- (oval_grows _ _ _ _ _ G2 B1), IN.
    destruct (written P _ _); exact Q.
  - (* Hash *) destruct (interp s (tb s) a) as [[a' T]|] eqn:E1; [|discriminate]. destruct n; try discriminate.
    destruct (_ && _) eqn:C; [|discriminate]. apply andb_prop in C as [C CW]. apply Z.ltb_lt in CW.
    destruct (interp_inv _ _ _ _ _ _ _ I E1) as (V1 & G1 & I1 & B1 & X1).
    assert (N0 : 0 <= n) by (unfold has_room in C; splits; apply Z.leb_le; assumption).
    destruct (intern_makes T V1 (NHash (gen s) a' (Num n)) (i_tok _ _ _ _ I1)) as (V2 & G2 & K2 & Z2 & B2).
    { split; [apply (f_gen _ _ _ _ (i_follows _ _ _ _ I1))|]. split; [exact B1 | split; assumption]. }
    destruct (intern T (NHash (gen s) a' (Num n))) as [o T']. cbn [fst snd] in *.
    pose proof (inv_table _ _ _ _ _ _ I1 G2 K2) as I2.
    pose proof (IHk _ _ _ _ _ _ H (inv_bind _ _ _ _ w o I2 B2) L) as K.
    apply (ends_grows _ _ _ _ _ _ _ _ _ (grows_trans _ _ _ _ _ _ G1 G2)) in K. pose proof (i_follows _ _ _ _ I1) as FO.
    unfold ends in *. cbn [bytes_mean value]. rewrite X1.
    replace (inside (bn P) (oval V1 a') n) with true
      by (rewrite (f_room _ _ _ _ FO); symmetry; exact (has_room_is _ _ _ _ _ (i_tok _ _ _ _ I1) B1 C)).
    replace (keccak (mbytes (bm P) (oval V1 a') (Z.to_nat n))) with (oval V2 o); [exact K|].
    rewrite Z2. cbn [nval oval]. f_equal. apply mbytes_ext. intros y _. apply (f_state _ _ _ _ FO).
  - (* Need *) destruct (interp s (tb s) x) as [[x' T]|] eqn:E1; [|discriminate].
    destruct (fork code fuel (with_table s T) x') as [[[s1 t1] g1]|] eqn:FK; [|discriminate].
    destruct (fails code fuel t1) as [h|] eqn:FA; [|discriminate]. destruct (walk code fuel turn heads None k _) as [[e i]|] eqn:WK; [|discriminate].
    apply some_pair in H as [<- <-]. destruct (interp_inv _ _ _ _ _ _ _ I E1) as (V1 & G1 & I1 & B1 & X1).
    destruct (fork_comes _ _ _ _ _ _ _ _ I1 B1 FK) as [N K]. pose proof (walk_cost _ _ _ _ _ WK). pose proof (fails_cost _ _ FA).
    specialize (K ltac:(frees)). destruct K as (V2 & S2 & I2 & GA & G2 & R). unfold ends. cbn [bytes_mean]. rewrite X1.
    change (free (with_table s T) P S) with (free s P S) in GA.
    destruct (Z.eqb_spec (oval V1 x') 0) as [|NZ].
    + apply R. apply (fails_is _ _ _ _ _ FA I2). lia.
    + rewrite <- (oval_grows _ _ _ _ _ G2 B1) in NZ. pose proof (inv_limited _ _ _ _ _ I2 (below_grows _ _ _ _ _ G2 B1) NZ) as [I3 G3].
      change (free s1 P S2) with (free (with_table s1 (limited 8 (tb s1) x')) P S2) in GA.
      pose proof (IHk _ _ _ _ _ _ WK I3 ltac:(lia)) as Q. unfold ends in Q.
      destruct (bytes_mean keccak cd k P) as [P'|o]; [|apply R, Q]. destruct Q as (s' & V' & S' & Q & I' & GA' & G' & R').
      exists s', V', S'. split; [exact Q|]. split; [exact I'|]. split; [lia|].
      split; [eapply grows_trans; [exact G1|]; eapply grows_trans; [exact G2|]; eapply grows_trans; [exact G3 | exact G']|].
      intros o O. apply R, R', O.
  - (* Branch *) destruct IHt as [IHt _], IHu as [IHu _]. destruct (interp s (tb s) x) as [[x' T]|] eqn:E1; [|discriminate].
    destruct (fork code fuel (with_table s T) x') as [[[s1 s2] g1]|] eqn:FK; [|discriminate].
    destruct (walk code fuel turn heads None t s1) as [[r1 h]|] eqn:W1; [|discriminate].
    destruct (walk code fuel turn heads None u s2) as [[r2 i]|] eqn:W2; [|destruct r1; discriminate].
    destruct (interp_inv _ _ _ _ _ _ _ I E1) as (V1 & G1 & I1 & B1 & X1).
    destruct (fork_comes _ _ _ _ _ _ _ _ I1 B1 FK) as [N K]. pose proof (walk_cost _ _ _ _ _ W1). pose proof (walk_cost _ _ _ _ _ W2).
    (* After the arm that does not end. *)
    assert (AFTER : exists j, 0 <= j /\ g = g1 + (Z.max h i + j) /\
      (forall s3, r1 = Some s3 \/ r2 = Some s3 -> walk code fuel turn heads None k s3 = Some (r, j))).
    { destruct r1 as [s3|], r2 as [s4|]; try discriminate.
      - destruct (walk code fuel turn heads None k s3) as [[e j]|] eqn:W3; [|discriminate]. apply some_pair in H as [<- <-].
        exists j. split; [eapply walk_cost, W3|]. split; [reflexivity|]. intros s5 [Q|Q]; [injection Q as <-; exact W3 | discriminate].
      - destruct (walk code fuel turn heads None k s4) as [[e j]|] eqn:W3; [|discriminate]. apply some_pair in H as [<- <-].
        exists j. split; [eapply walk_cost, W3|]. split; [reflexivity|]. intros s5 [Q|Q]; [discriminate | injection Q as <-; exact W3].
      - apply some_pair in H as [<- <-]. exists 0. split; [lia|]. split; [lia|]. intros s5 [Q|Q]; discriminate. }
    destruct AFTER as (j & J & -> & AF). specialize (K ltac:(frees)). destruct K as (V2 & S2 & I2 & GA & G2 & R).
    change (free (with_table s T) P S) with (free s P S) in GA.
    unfold ends. cbn [bytes_mean]. rewrite X1.
    assert (ARM : forall b s3 r3 h3, sound_here b -> walk code fuel turn heads None b s3 = Some (r3, h3) -> inv V2 s3 P S2 -> h3 <= Z.max h i ->
      grows T (tb s3) V1 V2 -> free s3 P S2 = free s P S - g1 -> (forall s5, r3 = Some s5 -> walk code fuel turn heads None k s5 = Some (r, j)) ->
      match match bytes_mean keccak cd b P with inl s => bytes_mean keccak cd k s | inr o => inr o end with
      | inl P' => exists s' V' S', r = Some s' /\ inv V' s' P' S' /\ free s P S - (g1 + (Z.max h i + j)) <= free s' P' S' /\ grows (tb s) (tb s') V V' /\ reaches S S'
      | inr o => finishes S o
      end).
    { intros b s3 r3 h3 IHb W3 I3 LE G3 F3 NX. pose proof (IHb _ _ _ _ _ _ W3 I3 ltac:(lia)) as Q. unfold ends in Q.
      destruct (bytes_mean keccak cd b P) as [P3|o]; [|apply R, Q]. destruct Q as (s4 & V4 & S4 & -> & I4 & GA4 & G4 & R4).
      pose proof (IHk _ _ _ _ _ _ (NX _ eq_refl) I4 ltac:(lia)) as Q. unfold ends in Q.
      destruct (bytes_mean keccak cd k P3) as [P5|o]; [|apply R, R4, Q]. destruct Q as (s5 & V5 & S5 & -> & I5 & GA5 & G5 & R5).
      exists s5, V5, S5. split; [reflexivity|]. split; [exact I5|]. split; [lia|].
      split; [eapply grows_trans; [exact G1|]; eapply grows_trans; [exact G3|]; eapply grows_trans; eassumption|]. intros o O. apply R, R4, R5, O. }
    destruct (oval V1 x' =? 0);
      [apply (ARM u s2 r2 i IHu W2 I2 ltac:(lia) G2 GA) | apply (ARM t s1 r1 h IHt W1 I2 ltac:(lia) G2 GA)]; intros s5 Q; apply AF; auto.
  - (* Countdown *) destruct IHt as [_ IHt]. destruct (event code fuel s) as [s1 g1] eqn:EV.
    destruct (byte_decode (rest s1)) eqn:D; [discriminate|]. destruct (decode (rest s1)) as [q m] eqn:E. destruct q; try discriminate.
    destruct (stk s1) as [|d0 r0] eqn:K; [discriminate|]. destruct (lookup w (known s1)) as [o|] eqn:LO; [|discriminate].
    set (b := Sym (tb s1) (at_ s1) (rest s1) r0 (cells s1) (known s1) (gen s1) (room s1) (smw s1)) in *.
    destruct (_ && _) eqn:C; [|discriminate]. destruct (walk code fuel turn heads (Some _) t b) as [[[s3|] h]|] eqn:W1; try discriminate.
    destruct (walk code fuel turn heads None k s3) as [[e i]|] eqn:W2; [|discriminate]. apply some_pair in H as [<- <-].
    pose proof (walk_cost _ _ _ _ _ W1). pose proof (walk_cost _ _ _ _ _ W2). pose proof (sync_cost _ _ _ _ _ EV).
    apply andb_prop in C as [C PLACES]. split_checks. rewrite forallb_forall in PLACES.
    destruct (sync_comes _ _ _ _ _ _ _ _ EV I ltac:(lia)) as (V1 & S1 & I1 & GA & G1 & R).
    pose proof (i_below _ _ _ _ I1) as B. rewrite K in B. inversion B as [|? ? B0 B1]; subst.
    pose proof (f_known _ _ _ _ (i_follows _ _ _ _ I1)) as FK. rewrite Forall_forall in FK.
    destruct (FK _ (lookup_in _ _ _ LO)) as [BW BO]. pose proof (oval_word _ _ _ (i_tok _ _ _ _ I1) BO) as [O0 _].
    pose proof (greatest_bound _ _ _ (i_tok _ _ _ _ I1) BO) as OM. pose proof (free_gas _ _ _ _ I1).
    unfold ends. cbn [bytes_mean]. rewrite BW, (proj2 (Z.leb_le _ _)) by lia.
    assert (PV : exists d, given 8 (tb s1) o (oval V1 o) d0 = Some d /\ 0 <= d /\ valid code d = true).
    { specialize (PLACES (Z.to_nat (oval V1 o))). rewrite Z2Nat.id in PLACES by lia.
      destruct (given 8 (tb s1) o (oval V1 o) d0) as [d|].
      - exists d. split; [reflexivity|]. apply and_comm. apply andb_prop in PLACES as [X Y]; [|apply in_seq; lia].
        apply Z.leb_le in X. auto.
      - discriminate PLACES. apply in_seq; lia. }
    destruct PV as (d & PV & DP & DV). pose proof (given_is _ _ _ _ _ _ (i_tok _ _ _ _ I1) B0 BO PV) as DE.
    pose proof (i_pc _ _ _ _ I1) as (_ & _ & PE). rewrite PE in D, E.
    assert (ST : bstep S1 = Next (State (map (oval V1) r0) (mem S1) (mwords S1) (Z.to_nat d) (gas S1 - 8))).
    { apply (plain_step S1 JUMP m) with (cost := 8); [exact D | exact E | | lia | rewrite map_length; assumption].
      rewrite (i_stack _ _ _ _ I1), K. cbn [map exec]. rewrite DE, DV. reflexivity. }
    pose proof (inv_place V1 s1 P S1 d r0 (gas S1 - 8) I1 DP B1) as I2.
    destruct (inv_again _ _ _ _ I2) as (V2 & G2 & I3). set (S2 := State _ _ _ _ _) in *.
    assert (F2 : free b P S2 = free s P S - g1 - 8) by (subst S2 b; frees).
    assert (RE : ready b V1).
    { split; [apply I1|]. split; [exact B1|]. split; apply Forall_forall.
      - intros [a p] X. pose proof (i_cells _ _ _ _ I1) as CS. rewrite Forall_forall in CS. apply (CS _ X).
      - intros [v p] X. apply (FK _ X). }
    assert (RE2 : ready b V2).
    { destruct RE as (T1 & RR). split; [|exact RR]. apply (tok_shrinks (tb b) (tb (entered code b d (tb b))) V1 V2 G2 T1 (i_tok _ _ _ _ I3)). }
    assert (OV : oval V2 o = oval V1 o) by (eapply oval_grows; [exact G2 | exact BO]).
    assert (Q : ends t (tb b) (Some s3) (free b P S2 - h) V2 P S2).
    { refine (IHt _ _ _ _ W1 _ V2 P S2 o d RE2 LO _ _ I3 _); cbn [number base counted place]; rewrite ?OV; try lia.
      replace (Z.min (oval V1 o) n) with (oval V1 o) by lia. exact PV. }
    assert (REACH : reaches S S2) by (intros p O; apply R; eapply finishes_step; [exact ST | exact O]).
    unfold ends in Q. destruct (bytes_mean keccak cd t P) as [P3|p]; [|apply REACH, Q].
    destruct Q as (s4 & V4 & S4 & Q & I4 & GA4 & G4 & R4). injection Q as <-.
    pose proof (IHk _ _ _ _ _ _ W2 I4 ltac:(lia)) as Q. unfold ends in Q.
    destruct (bytes_mean keccak cd k P3) as [P5|p]; [|apply REACH, R4, Q]. destruct Q as (s5 & V5 & S5 & -> & I5 & GA5 & G5 & R5).
    exists s5, V5, S5. split; [reflexivity|]. split; [exact I5|]. split; [lia|].
    split; [|intros p O; apply REACH, R4, R5, O].
    eapply grows_trans; [exact G1|]. eapply grows_trans; [|eapply grows_trans; [exact G4 | exact G5]].
    destruct G2 as [GW GS GN]. split; [exact GW | exact GS | cbn [b tb]; lia].
  - (* Turn alone *) discriminate.
  - (* Turn *) intros c s r g H N V P S o d RE LO O PL I L. cbn [walk] in H. destruct IHt as [IHt _], IH as [_ IHk'].
    destruct (place c j) as [from|] eqn:PF; [|discriminate]. destruct (place c (j - 1)) as [to|] eqn:PT; [|discriminate].
    destruct (_ && _) eqn:C; [|discriminate]. destruct (walk code fuel turn heads None t _) as [[[s1|] g1]|] eqn:W1; try discriminate.
    destruct (sync code fuel to s1) as [s2 h] eqn:SY. destruct (_ && alike _ _) eqn:C2; [|discriminate].
    destruct (walk code fuel turn heads (Some _) k s2) as [[e i]|] eqn:W2; [|discriminate]. apply some_pair in H as [<- <-].
    pose proof (walk_cost _ _ _ _ _ W1). pose proof (walk_cost _ _ _ _ _ W2). pose proof (sync_cost _ _ _ _ _ SY).
    split_checks. repeat match goal with H : Pos.eqb _ _ = true |- _ => apply Pos.eqb_eq in H end. subst w j.
    pose proof (f_known _ _ _ _ (i_follows _ _ _ _ I)) as FK. cbn [known entered renewed] in FK. rewrite Forall_forall in FK.
    pose proof (FK _ (lookup_in _ _ _ LO)) as [BW _]. unfold ends. cbn [bytes_mean]. rewrite BW.
    destruct (Z.leb_spec (number c) (oval V o)) as [LE|GT].
    + replace (Z.min (oval V o) (number c)) with (number c) in PL by lia. rewrite PF in PL. injection PL as ->.
      pose proof (IHt _ _ _ _ _ _ W1 I ltac:(frees)) as Q. unfold ends in Q. destruct (bytes_mean keccak cd t P) as [P1|q]; [|exact Q].
      destruct Q as (s1' & V1 & S1 & Q & I1 & GA1 & G1 & R1). injection Q as <-.
      change (free (entered code (base c) d (tb (base c))) P S) with (free (base c) P S) in GA1.
      destruct (sync_comes _ _ _ _ _ _ _ _ SY I1 ltac:(lia)) as (V2 & S2 & I2 & GA2 & G2 & R2).
      assert (G02 : grows (tb (base c)) (tb s2) V V2).
      { destruct (grows_trans _ _ _ _ _ _ G1 G2) as [GW GS GN]. cbn [tb entered renewed next] in *. split; intros; [apply GW | apply GS |]; lia. }
      destruct (entered_inv _ _ _ _ _ _ to RE G02 I2 ltac:(eassumption) ltac:(eassumption)) as (V3 & G3 & RE3 & I3 & MW).
      assert (F3 : free (base c) P1 S2 = free s2 P1 S2) by (unfold free; rewrite MW; reflexivity).
      assert (OV : oval V3 o = oval V o).
      { destruct RE as (_ & _ & _ & BK). rewrite Forall_forall in BK. eapply oval_grows; [exact G3|]. exact (BK _ (lookup_in _ _ _ LO)). }
      assert (Q : ends k (tb (base c)) e (free (base c) P1 S2 - i) V3 P1 S2).
      { refine (IHk' _ _ _ _ W2 _ V3 P1 S2 o to RE3 LO _ _ I3 _); cbn [number base counted place]; rewrite ?OV; try lia.
        replace (Z.min (oval V o) (number c - 1)) with (number c - 1) by lia. exact PT. }
      unfold ends in Q. destruct (bytes_mean keccak cd k P1) as [P4|q]; [|apply R1, R2, Q].
      destruct Q as (s4 & V4 & S4 & -> & I4 & GA4 & G4 & R4). exists s4, V4, S4. split; [reflexivity|]. split; [exact I4|]. split; [lia|].
      split; [|intros q Q; apply R1, R2, R4, Q].
      eapply grows_trans; [|exact G4]. destruct G3 as [GW GS GN]. split; [exact GW | exact GS | lia].
    + assert (Q : ends k (tb (base c)) e (free (base c) P S - i) V P S).
      { refine (IHk' _ _ _ _ W2 _ V P S o d RE LO O _ I _); cbn [number base counted place]; try lia.
        rewrite min_below by lia. exact PL. }
      unfold ends in Q. destruct (bytes_mean keccak cd k P) as [P4|q]; [|exact Q].
      destruct Q as (s4 & V4 & S4 & -> & I4 & GA4 & G4 & R4). exists s4, V4, S4. split; [reflexivity|]. split; [exact I4|]. split; [lia|].
      split; [exact G4 | exact R4].
  - (* Repeat *) destruct IHt as [IHt _]. destruct (interp s (tb s) n) as [[c T]|] eqn:E1; [|discriminate]. destruct (lookup w heads) as [h|]; [|discriminate].
    destruct (interp_inv _ _ _ _ _ _ _ I E1) as (V1 & G1 & I1 & B1 & X1). unfold ends. cbn [bytes_mean]. rewrite X1.
    assert (CW : 0 <= oval V1 c) by (apply (oval_word _ _ _ (i_tok _ _ _ _ I1) B1)).
    assert (NUMBER : forall m, n = ENum m -> (if 1 <=? m then
        match rounds code fuel (walk code fuel turn heads None t) w c h (with_table s T) with
        | Some (e, g, i) => match walk code fuel turn heads None k e with Some (e, j) => Some (e, g + m * i + j) | None => None end
        | None => None end else None) = Some (r, g) ->
      match match loop 0 (bytes_mean keccak cd t) w 0 (Z.to_nat (oval V1 c)) P with inl s => bytes_mean keccak cd k s | inr o => inr o end with
      | inl P' => exists s' V' S', r = Some s' /\ inv V' s' P' S' /\ free s P S - g <= free s' P' S' /\ grows (tb s) (tb s') V V' /\ reaches S S'
      | inr o => finishes S o end).
    { intros m -> H'. cbn [value] in X1. injection X1 as X1. destruct (Z.leb_spec 1 m); [|discriminate].
      destruct (rounds code fuel (walk code fuel turn heads None t) w c h (with_table s T)) as [[[e g1] i]|] eqn:RO; [|discriminate]. destruct (walk code fuel turn heads None k e) as [[e' j]|] eqn:WK; [|discriminate].
      apply some_pair in H' as [<- <-]. destruct (rounds_cost _ _ _ _ _ _ _ _ (walk_cost t None) RO) as [_ I0].
      pose proof (rounds_end t k w c h (with_table s T) e g1 i e' j 0 i V1 P S IHt IHk RO WK I1 B1 ltac:(lia) ltac:(lia) I0 ltac:(lia)) as Q.
      change (free (with_table s T) P S) with (free s P S) in Q. rewrite X1 in L |- *. specialize (Q L).
      destruct (match loop _ _ _ _ _ _ with inl s => _ | inr o => _ end) as [P2|o]; [|exact Q].
      destruct Q as (s' & V' & S' & Q & I' & GA' & G' & R'). exists s', V', S'. split; [exact Q|]. split; [exact I'|]. split; [exact GA'|].
      split; [eapply grows_trans; [exact G1 | exact G'] | exact R']. }
    assert (WORD : match fork code fuel (with_table s T) c with
        | Some (s, s', f) =>
            match rounds code fuel (walk code fuel turn heads None t) w c h s with
            | Some (e, g, i) =>
                if i <=? turn then
                  match walk code fuel turn heads None k e, walk code fuel turn heads None k s' with
                  | Some (None, j), Some (None, l) => Some (None, f + Z.max (g + j) l)
                  | _, _ => None end
                else None
            | None => None end
        | None => None end = Some (r, g) ->
      match match loop 1 (bytes_mean keccak cd t) w 0 (Z.to_nat (oval V1 c)) P with inl s => bytes_mean keccak cd k s | inr o => inr o end with
      | inl P' => exists s' V' S', r = Some s' /\ inv V' s' P' S' /\ free s P S - g <= free s' P' S' /\ grows (tb s) (tb s') V V' /\ reaches S S'
      | inr o => finishes S o end).
    { clear NUMBER. intros H'. destruct (fork code fuel (with_table s T) c) as [[[s1 s2] f]|] eqn:FK; [|discriminate].
      destruct (rounds code fuel (walk code fuel turn heads None t) w c h s1) as [[[e g1] i]|] eqn:RO; [|discriminate]. destruct (Z.leb_spec i turn); [|discriminate].
      destruct (walk code fuel turn heads None k e) as [[[?|] j]|] eqn:WK; try discriminate.
      destruct (walk code fuel turn heads None k s2) as [[[?|] l]|] eqn:WL; try discriminate. apply some_pair in H' as [<- <-].
      destruct (rounds_cost _ _ _ _ _ _ _ _ (walk_cost t None) RO) as [N1 I0]. pose proof (walk_cost _ _ _ _ _ WK). pose proof (walk_cost _ _ _ _ _ WL).
      destruct (fork_comes _ _ _ _ _ _ _ _ I1 B1 FK) as [N K]. change (free (with_table s T) P S) with (free s P S) in K. specialize (K ltac:(lia)).
      destruct K as (V2 & S2 & I2 & GA & G2 & R). change (free (with_table s T) P S) with (free s P S) in GA. cbn [tb with_table] in G2.
      destruct (Z.eqb_spec (oval V1 c) 0) as [E0|NE].
      - rewrite E0. cbn [Z.to_nat loop]. pose proof (IHk _ _ _ _ _ _ WL I2 ltac:(lia)) as Q. unfold ends in Q.
        destruct (bytes_mean keccak cd k P) as [P2|o]; [|apply R, Q]. destruct Q as (s' & V' & S' & Q & _). discriminate.
      - pose proof (oval_grows _ _ _ _ _ G2 B1) as CE. rewrite <- CE.
        pose proof (rounds_end t k w c h s1 e g1 i None j 1 0 V2 P S2 IHt IHk RO WK I2 (below_grows _ _ _ _ _ G2 B1) ltac:(lia) ltac:(lia) ltac:(lia)
          ltac:(lia) ltac:(lia)) as Q.
        destruct (match loop _ _ _ _ _ _ with inl s => _ | inr o => _ end) as [P2|o]; [|apply R, Q]. destruct Q as (s' & V' & S' & Q & _). discriminate. }
    destruct n; try exact (WORD H). exact (NUMBER _ eq_refl H).
  - (* ReturnWords *) destruct (interps s (tb s) l) as [[l' T]|] eqn:E1; [|discriminate].
    destruct (return_words code fuel (with_table s T) l') as [h|] eqn:RW; [|discriminate]. apply some_pair in H as [<- <-].
    destruct (interps_inv _ _ _ _ _ _ _ I E1) as (V1 & G1 & I1 & B1 & X1). unfold ends. cbn [bytes_mean]. rewrite X1.
    apply (return_words_is _ _ _ _ _ _ RW I1 B1), L.
  - (* ReturnScratch *) destruct (interp s (tb s) a) as [[a' T]|] eqn:E1; [|discriminate].
    destruct (interp s T n) as [[n' T']|] eqn:E2; [|discriminate].
    destruct (return_scratch code fuel (with_table s T') a' n') as [h|] eqn:RW; [|discriminate]. apply some_pair in H as [<- <-].
    destruct (interp_inv _ _ _ _ _ _ _ I E1) as (V1 & G1 & I1 & B1 & X1).
    destruct (interp_next _ _ _ _ _ _ _ _ I1 E2) as (V2 & G2 & I2 & B2 & X2). unfold ends. cbn [bytes_mean].
    rewrite X1, X2, <- (oval_grows _ _ _ _ _ G2 B1).
    destruct (proj2 (return_scratch_is _ _ _ _ _ _ _ RW I2 (below_grows _ _ _ _ _ G2 B1) B2) L) as [IN EV]. rewrite IN. exact EV.
Qed.

Lemma blank_inv g n zeros unset : forallb (fun a => 0 <=? a) zeros = true -> 0 <= n ->
  inv (Values (fun _ => 0) (fun _ _ => 0))
    (Sym blank 0 code [] (map (fun a => (a, Num 0)) zeros) (map (fun w => (w, Num 0)) unset) 1 0 0) (Bs (fun _ => 0) (fun _ => 0) 0 n) (start g).
Proof.
  intros ZS N. assert (Z0 : is_word 0) by (split; [lia | reflexivity]).
  split; cbn [tb stk cells known smw at_ rest room stack mem mwords pc start map bt]; auto.
  - split; [intros i; exact Z0 | intros i x; split; reflexivity || discriminate | | |]; intros i m H; cbn [nodes limits blank] in H; rewrite F.empty_o in H; discriminate.
  - split; cbn [known gen room bn bm blank next bw]; auto; [|lia]. rewrite Forall_map. apply Forall_forall. intros w _. cbn. auto.
  - rewrite forallb_forall in ZS. rewrite Forall_map. apply Forall_forall. intros a A. apply ZS, Z.leb_le in A.
    split; [exact A|]. split; [exact A|]. split; [|exact Z0]. reflexivity.
  - lia.
  - split; [reflexivity|]. split; [lia | reflexivity].
  - lia.
Qed.

End Sound.

(* A program that has an outcome with so many turns; code has it with so much gas for each. *)
Theorem check_bytes_in_sound turn heads zeros unset b fuel code g0 : check_bytes_in turn heads zeros unset b fuel code = Some g0 ->
  forall keccak, (forall bytes, 0 <= keccak bytes < W) ->
  forall cd, Forall is_byte cd -> Z.of_nat (length cd) < W ->
  forall turns o, 0 <= turns -> bytes_meaning_in keccak cd turns b = Some o ->
  forall g, g0 + turn * turns <= g -> HEval keccak code cd (start g) o.
Proof.
  intros H keccak KW cd CB CS turns o N M g L. unfold check_bytes_in in H. destruct (_ && _) eqn:T; [|discriminate]. apply andb_prop in T as [T ZS]. apply Z.leb_le in T.
  destruct (walk code fuel turn heads None b _) as [[[r|] g1]|] eqn:E; try discriminate. injection H as <-.
  pose proof (proj1 (walk_sound keccak KW cd CB CS code fuel turn T heads b) _ _ _ _ _ (start g) E
    ltac:(apply blank_inv; first [exact ZS | exact N | assumption])) as Q.
  unfold ends, free in Q. cbn [bt gas mwords smw start] in Q. specialize (Q ltac:(cbn; lia)).
  unfold bytes_meaning_in in M. destruct (bytes_mean keccak cd b _) as [P|p].
  - destruct Q as (? & ? & ? & Q & _). discriminate.
  - subst p. exact Q.
Qed.

(* Programs whose loops have numbers of turns end, whatever turns are left of others. *)
Definition keeps (s : bytes_state) (r : bytes_state + option outcome) : Prop := match r with inl s' => bt s' = bt s | inr o => o <> None end.

Lemma keeps_then s r f : keeps s r -> (forall s', bt s' = bt s -> keeps s' (f s')) -> keeps s (match r with inl s' => f s' | inr o => inr o end).
Proof.
  unfold keeps. destruct r as [s'|o]; [|auto]. intros E H. specialize (H _ E). destruct (f s'); [congruence | exact H].
Qed.

Lemma loop_keeps f w : (forall s, 0 <= bt s -> keeps s (f s)) -> forall n i s, 0 <= bt s -> keeps s (loop 0 f w i n s).
Proof.
  intros F. induction n as [|n IH]; intros i s N; cbn [loop]; [reflexivity|]. destruct (Z.ltb_spec (bt s) 0); [lia|].
  pose proof (F (Bs (set (bw s) w i) (bm s) (bn s) (bt s - 0)) ltac:(cbn; lia)) as Q. unfold keeps in Q. cbn [bt] in Q.
  destruct (f _) as [s'|o]; [|exact Q]. specialize (IH (i + 1) s' ltac:(lia)). unfold keeps in *. destruct (loop _ _ _ _ _ _); [lia | exact IH].
Qed.

Lemma closed_keeps keccak cd b : is_closed b = true -> forall s, 0 <= bt s -> keeps s (bytes_mean keccak cd b s).
Proof.
  induction b; intros C s N; cbn [bytes_mean is_closed] in *; splits;
    repeat match goal with
    | |- keeps _ (match ?x with Some _ => _ | None => _ end) => destruct x eqn:?
    | |- keeps _ (if inside ?a ?b ?c then _ else _) => destruct (inside a b c)
    | H : written _ _ _ = Some ?s |- _ => apply written_budget in H
    end; try discriminate; try reflexivity.
  all: try (match goal with IH : is_closed ?k = true -> _ |- keeps ?s (bytes_mean _ _ ?k ?t) =>
    pose proof (IH ltac:(assumption) t) as Q; unfold keeps in *; cbn [bt bound] in *;
    destruct (bytes_mean _ _ k t); [rewrite Q; [try reflexivity; assumption|]; lia | apply Q; lia] end).
  - destruct (z =? 0); [discriminate | auto].
  - apply keeps_then; [destruct (z =? 0); auto | intros s' E; apply IHb3; [assumption | lia]].
  - destruct (bw s w <=? turns); [|discriminate]. apply keeps_then; [auto | intros s' E; apply IHb2; [assumption | lia]].
  - apply keeps_then; [destruct (number <=? bw s w); [auto | reflexivity] | intros s' E; apply IHb2; [assumption | lia]].
  - replace (charge turns) with 0 by (symmetry; apply Z.eqb_eq; assumption).
    apply keeps_then; [apply loop_keeps; auto | intros s' E; apply IHb2; [assumption | lia]].
Qed.

Theorem check_bytes_sound heads zeros unset b fuel code g0 : check_bytes heads zeros unset b fuel code = Some g0 ->
  forall keccak, (forall bytes, 0 <= keccak bytes < W) ->
  forall cd, Forall is_byte cd -> Z.of_nat (length cd) < W ->
  forall g, g0 <= g -> HEval keccak code cd (start g) (bytes_meaning keccak cd b).
Proof.
  intros H keccak KW cd CB CS g L. unfold check_bytes in H. destruct (is_closed b) eqn:C; [|discriminate].
  apply (check_bytes_in_sound _ _ _ _ _ _ _ _ H keccak KW cd CB CS 0); [lia | | lia].
  pose proof (closed_keeps keccak cd b C (Bs (fun _ => 0) (fun _ => 0) 0 0) ltac:(cbn; lia)) as Q.
  unfold bytes_meaning, bytes_meaning_in, keeps in *. destruct (bytes_mean _ _ _ _); [reflexivity|]. destruct o; [reflexivity | contradiction].
Qed.
