(* Field contexts of `eip6690-2024` and `evmmax-next`: moduli with slots, strided arithmetic, copies of code and calldata, and gas under the
   schedules `eip6690` and `next`. Of what `evmmax-next` adds there are moduli and values in code, values padded in memory, and a test for zero. All else is `Evm.v`; code for today's EVM takes the same way here as there (`plain_step`). *)
From Coq Require Import ZArith List Bool.
From Residue Require Import Evm.
Import ListNotations.
Open Scope Z_scope.

(* Values in slots are below the modulus; in memory each has so many bytes, the most significant first. *)
Record context := Context { cmodulus : Z; cbytes : Z; cslots : list Z }.
Record fields := Fields { contexts : list (Z * context); active : option Z }.
Definition none : fields := Fields [] None.

Definition found (id : Z) (l : list (Z * context)) : option context :=
  option_map snd (find (fun '(i, _) => i =? id) l).
Definition now (f : fields) : option context :=
  match active f with Some id => found id (contexts f) | None => None end.
(* The active context has other values. *)
Definition put (c : context) (l : list Z) (f : fields) : fields :=
  let c := Context (cmodulus c) (cbytes c) l in
  match active f with
  | Some id => Fields (map (fun '(i, d) => if i =? id then (i, c) else (i, d)) (contexts f)) (active f)
  | None => f
  end.

(* Bytes and words of memory that slots of all contexts count for. *)
Definition size_of (c : context) : Z := cbytes c * Z.of_nat (length (cslots c)).
Definition taken (f : fields) : Z := fold_left (fun n '(_, c) => n + size_of c) (contexts f) 0.
Definition reserved (f : fields) : Z := words (taken f).

(* ---- prices, by limbs from 1 on ---- *)

Definition price (l : list Z) (c : context) : Z := nth (Z.to_nat (cbytes c / 8 - 1)) l 0.
Definition set_price := price [23; 26; 29; 32; 36; 39; 42; 45; 48; 51; 54; 58].
Definition sum_price := price [1; 1; 1; 1; 1; 1; 1; 2; 2; 2; 2; 2].
Definition mul_price := price [1; 1; 1; 2; 2; 3; 4; 5; 7; 8; 10; 12].
Definition transfer_price (c : context) (n bytes : Z) : Z :=
  1 + if Z.odd (cmodulus c) then n * mul_price c else 3 * words bytes.

(* ---- instructions ---- *)

Inductive lane := LAdd | LSub | LMul.
(* `padded` has the bytes of a value in memory where the code says them: LOADPX and STOREPX. CUT: the code ends within the instruction. *)
Inductive finstr :=
| SETMODX | LOADX (padded : option Z) | STOREX (padded : option Z) | SETMODCX | STORECX
| LANES (k : lane) (immediate : list Z) | CALLDATACOPY | CODECOPY | ISZEROX (i : Z) | CUT.

Section Revision.
Variable next : bool. (* true for `evmmax-next` *)

Definition fdecode (l : list Z) : option (finstr * nat) :=
  match l with
  | 0xc0 :: _ => Some (SETMODX, 1%nat)
  | 0xc1 :: _ => Some (LOADX None, 1%nat)
  | 0xc2 :: _ => Some (STOREX None, 1%nat)
  | 0xc7 :: r => if next then Some (match r with i :: _ => ISZEROX i | [] => CUT end, 2%nat) else None
  | 0xcf :: r => if next then Some (match r with s :: _ => LOADX (Some s) | [] => CUT end, 2%nat) else None
  | 0xd0 :: r => if next then Some (match r with s :: _ => STOREX (Some s) | [] => CUT end, 2%nat) else None
  | 0xd1 :: _ => if next then Some (SETMODCX, 1%nat) else None
  | 0xd2 :: _ => if next then Some (STORECX, 1%nat) else None
  | 0xc3 :: r => Some (LANES LAdd (firstn 7 r), 8%nat)
  | 0xc4 :: r => Some (LANES LSub (firstn 7 r), 8%nat)
  | 0xc5 :: r => Some (LANES LMul (firstn 7 r), 8%nat)
  | 0x37 :: _ => Some (CALLDATACOPY, 1%nat)
  | 0x39 :: _ => Some (CODECOPY, 1%nat)
  | _ => None
  end.

(* Bytes of the immediate of a field instruction; of the additions from 0xc6 to 0xd0 also where nothing is said of what they do. *)
Definition immediates (b : Z) : nat :=
  if (0xc3 <=? b) && (b <=? 0xc5) then 7
  else if next && (0xc6 <=? b) && (b <=? 0xd0) then nth (Z.to_nat (b - 0xc6)) [5; 1; 6; 8; 10; 12; 14; 2; 2; 1; 1]%nat O
  else O.

(* Code with zeros for the immediates of field instructions, where no jump may go. *)
Fixpoint blank (plain immediate : nat) (l : list Z) : list Z :=
  match l with
  | [] => []
  | b :: r =>
      match immediate, plain with
      | S n, _ => 0 :: blank O n r
      | O, S n => b :: blank n O r
      | O, O => b :: (if (0x60 <=? b) && (b <=? 0x7f) then blank (Z.to_nat (b - 0x5f)) O r else blank O (immediates b) r)
      end
  end.

Fixpoint pieces (size n : nat) (l : list Z) : list Z :=
  match n with O => [] | S n => beZ (take size l) :: pieces size n (skipn size l) end.
(* Values at places of a list, one after the other. *)
Definition puts (places : list nat) (new l : list Z) : list Z :=
  fold_left (fun l '(i, v) => upd i v l) (combine places new) l.
Definition between (low x high : Z) : bool := (low <=? x) && (x <=? high).
Definition inside (mw a n : Z) : bool := a + n <=? 32 * mw.

Definition lane_op (k : lane) (m a b : Z) : Z :=
  match k with LAdd => (a + b) mod m | LSub => (a - b) mod m | LMul => (a * b) mod m end.
Definition power_of_two (m : Z) : bool := Z.land m (m - 1) =? 0.
(* Slots of n lanes. *)
Definition strided (first stride n : Z) : list nat :=
  map (fun j => Z.to_nat (first + stride * Z.of_nat j)) (seq 0 (Z.to_nat n)).

Definition lanes (k : lane) (immediate : list Z) (f : fields) : Z * option fields :=
  match now f, immediate with
  | Some c, [o; os; x; xs; y; ys; n] =>
      let last i s := i + s * (n - 1) <? Z.of_nat (length (cslots c)) in
      let price := match k with LMul => mul_price c | _ => sum_price c end in
      let at_ := map (fun i => nth i (cslots c) 0) in
      (* All are read before any is written. *)
      let new := map (fun '(a, b) => lane_op k (cmodulus c) a b) (combine (at_ (strided x xs n)) (at_ (strided y ys n))) in
      (n * price,
       if (1 <=? os) && (1 <=? n) && last o os && last x xs && last y ys
       then Some (put c (puts (strided o os n) new (cslots c)) f)
       else None)
  | _, _ => (0, None)
  end.

(* What memory costs that grows beside slots. *)
Definition growth (slots mw mw' : Z) : Z := cmem (mw' + slots) - cmem (mw + slots).

(* A new context is made active, of a modulus that begins bytes, which lie inside memory or code. *)
Definition opened (bytes : nat -> list Z) (lies : bool) (mw : Z) (f : fields) (id size count : Z) : Z * option fields :=
  let p := beZ (bytes (Z.to_nat (if between 1 size 96 then size else 0))) in
  let c := Context p (8 * ((size + 7) / 8)) (repeat 0 (Z.to_nat (if between 1 count 256 then count else 0))) in
  let g := Fields ((id, c) :: contexts f) (Some id) in
  (1 + (if Z.odd p then set_price c else 0) + (cmem (mw + reserved g) - cmem (mw + reserved f)),
   if between 1 count 256 && between 1 size 96 && (taken g <=? 24576) && lies && (3 <=? p)
      && (Z.odd p || power_of_two p) then Some g else None).

Definition set_context (id : Z) (f : fields) (new : Z * option fields) : Z * option fields :=
  if between 0 id 256 then
    match found id (contexts f) with Some _ => (1, Some (Fields (contexts f) (Some id))) | None => new end
  else (0, None).

(* A transfer of n slots, each of so many bytes outside, which lie inside memory or code. *)
Definition transfer {R} (f : fields) (first n : Z) (bytes : context -> Z) (lies : Z -> bool) (nothing : R)
  (go : context -> Z -> option R) : Z * option R :=
  match now f with
  | None => (0, None)
  | Some c =>
      let s := bytes c in
      if n =? 0 then (1, Some nothing)
      else if (cbytes c <=? s) && (first + n <=? Z.of_nat (length (cslots c))) && lies (n * s) then
        match go c s with Some r => (transfer_price c n (n * s), Some r) | None => (0, None) end
      else (0, None)
  end.
Definition span (first n : Z) : list nat := seq (Z.to_nat first) (Z.to_nat n).
(* Slots from one on take values, each below the modulus. *)
Definition filled (c : context) (f : fields) (first n : Z) (l : list Z) : option fields :=
  if forallb (fun v => v <? cmodulus c) l then Some (put c (puts (span first n) l (cslots c)) f) else None.
(* Bytes of a value in memory. *)
Definition value_bytes (padded : option Z) (c : context) : Z := match padded with Some s => s | None => cbytes c end.

(* n bytes of a list from an offset on, in memory. *)
Definition copied (k : list Z) (m : memory) (mw : Z) (f : fields) (l : list Z) (a from n : Z)
  : Z * option (list Z * memory * Z * fields) :=
  let mw' := grown mw a n in
  (3 + 3 * words n + growth (reserved f) mw mw',
   Some (k, write m a (take (Z.to_nat n) (skipn (Z.to_nat from) l)), mw', f)).

(* Gas, and stack, memory and fields after it; None for a halt. *)
Definition fexec (code cd : list Z) (i : finstr) (k : list Z) (m : memory) (mw : Z) (f : fields)
  : Z * option (list Z * memory * Z * fields) :=
  let onto k m (r : Z * option fields) := (fst r, option_map (fun g => (k, m, mw, g)) (snd r)) in
  let code_has a n := a + n <=? Z.of_nat (length code) in
  match i, k with
  | SETMODX, id :: a :: size :: count :: r =>
      onto r m (set_context id f (opened (mbytes m a) (inside mw a size) mw f id size count))
  | SETMODCX, id :: a :: size :: count :: r =>
      let lies := code_has a size in
      onto r m (set_context id f (opened (fun n => take n (skipn (Z.to_nat (if lies then a else 0)) code)) lies mw f id size count))
  | LOADX padded, a :: first :: n :: r =>
      transfer f first n (value_bytes padded) (inside mw a) (r, m, mw, f) (fun c s =>
        let moved := map (fun i => nth i (cslots c) 0) (span first n) in
        Some (r, write m a (flat_map (bytes_of (Z.to_nat s)) moved), mw, f))
  | STOREX padded, first :: a :: n :: r =>
      transfer f first n (value_bytes padded) (inside mw a) (r, m, mw, f) (fun c s =>
        option_map (fun g => (r, m, mw, g)) (filled c f first n (numbers m a s (Z.to_nat n))))
  | STORECX, first :: a :: n :: r =>
      transfer f first n cbytes (code_has a) (r, m, mw, f) (fun c s =>
        option_map (fun g => (r, m, mw, g)) (filled c f first n (pieces (Z.to_nat s) (Z.to_nat n) (skipn (Z.to_nat a) code))))
  | LANES kind immediate, _ => onto k m (lanes kind immediate f)
  | CALLDATACOPY, a :: from :: n :: r => copied r m mw f cd a from n
  | CODECOPY, a :: from :: n :: r => copied r m mw f code a from n
  | ISZEROX i, _ =>
      match now f with
      | Some c => (3, if i <? Z.of_nat (length (cslots c)) then Some (b2z (nth (Z.to_nat i) (cslots c) 0 =? 0) :: k, m, mw, f) else None)
      | None => (0, None)
      end
  | _, _ => (0, None)
  end.

(* Memory grows beside so many words of slots: what that costs more. *)
Definition beside (slots mw mw' : Z) : Z := growth slots mw mw' - (cmem mw' - cmem mw).

Inductive fstepped := FNext (s : state) (f : fields) | FHalt (o : outcome).

Definition charged (s : state) (cost : Z) (next : state) (f : fields) : fstepped :=
  if gas s <? cost then FHalt Failed
  else if 1024 <? Z.of_nat (length (stack next)) then FHalt Failed else FNext next f.

Definition fstep (code cd : list Z) (s : state) (f : fields) : fstepped :=
  match fdecode (skipn (pc s) code) with
  | Some (i, n) =>
      match fexec code cd i (stack s) (mem s) (mwords s) f with
      | (cost, Some (k, m, mw, g)) => charged s cost (State k m mw (pc s + n) (gas s - cost)) g
      | (_, None) => FHalt Failed
      end
  | None =>
      let '(i, n) := decode (skipn (pc s) code) in
      let '(cost, e) := exec (blank O O code) cd i (pc s + n) (stack s) (mem s) (mwords s) in
      let more mw' := cost + beside (reserved f) (mwords s) mw' in
      match e with
      | Unmodelled => FHalt Unknown
      | Go k m mw' pc => charged s (more mw') (State k m mw' pc (gas s - more mw')) f
      | Ret b =>
          let after := match stack s with a :: n :: _ => grown (mwords s) a n | _ => mwords s end in
          if gas s <? more after then FHalt Failed else FHalt (Returned b)
      | Bad => FHalt Failed
      end
  end.

Inductive FEval (code cd : list Z) : state -> fields -> outcome -> Prop :=
| FEval_halt s f o : fstep code cd s f = FHalt o -> FEval code cd s f o
| FEval_step s f s' f' o : fstep code cd s f = FNext s' f' -> FEval code cd s' f' o -> FEval code cd s f o.

Fixpoint frun_for (steps : nat) (code cd : list Z) (s : state) (f : fields) : outcome :=
  match steps with
  | O => Unknown
  | S n => match fstep code cd s f with FHalt o => o | FNext s f => frun_for n code cd s f end
  end.

(* Without contexts memory costs what it costs in today's EVM. *)
Lemma beside_none mw mw' : beside (reserved none) mw mw' = 0.
Proof. unfold beside, growth. change (reserved none) with 0. rewrite !Z.add_0_r. apply Z.sub_diag. Qed.

(* Code without these instructions runs as in `Evm.v`. *)
Theorem plain_step code cd s :
  blank O O code = code -> fdecode (skipn (pc s) code) = None ->
  fstep code cd s none = match step code cd s with Next s => FNext s none | Halt o => FHalt o end.
Proof.
  intros B F. unfold fstep, step. rewrite F, B. destruct (decode (skipn (pc s) code)) as [i n].
  destruct (exec code cd i (pc s + n) (stack s) (mem s) (mwords s)) as [cost [k m mw pc'|b| |]];
    cbv zeta; rewrite ?beside_none, ?Z.add_0_r; try reflexivity.
  - unfold charged. cbn [stack]. destruct (gas s <? cost); [reflexivity|].
    destruct (1024 <? Z.of_nat (length k)); reflexivity.
  - destruct (gas s <? cost); reflexivity.
  - destruct (gas s <? cost); reflexivity.
Qed.
End Revision.
