(* The checker of programs with branches and calls, of code with slots: `CheckFlow.v` with the instructions of `CheckSlots.v`.
   Where a store halts for a number that is not below the modulus, the paths of the program fail on which that may be so. *)
From Coq Require Import ZArith List Bool FMapPositive.
From Residue Require Import Evm Program Check Slots CheckSlots Flow CheckFlow.
Import ListNotations.
Open Scope Z_scope.

Section Prime.
Variable p : Z.
Variable next : bool.
Variable code : list Z.
Variable jumps : list Z. (* the code without immediates of field instructions *)
Variable prog : program. (* the operations of all paths *)
Variable wnames : list named_word.

(* Conditions that are taken for false after an instruction, and were not before. *)
Definition excluded (st st' : fstate) : list cond :=
  firstn (length (failures st') - length (failures st)) (failures st').
Definition all_false (l : list cond) (w : way) : bool :=
  forallb (fun c => match decide p (fst w) c with Some false => true | _ => false end) l.
Definition some_true (l : list cond) (w : way) : bool :=
  existsb (fun c => match decide p (fst w) c with Some b => b | None => false end) l.

(* A word of calldata at the offset that another one is, in memory. *)
Definition word_copy (i : finstr) (st : fstate) : option (Z * fstate) :=
  match i, sstack (base st) with
  | CALLDATACOPY, a :: from :: n :: r =>
      match slot_of a, at_word wnames from, exactly n with
      | Some (a, key), Some h, Some n => if n =? 32 then Some (copy st r a key n [SRaw h]) else None
      | _, _, _ => None
      end
  | _, _ => None
  end.
(* A field instruction, or a copy. A store may fail for any number: paths say whether the program does. *)
Definition field_step (T : tables) (i : finstr) (st : fstate) : option (Z * fstate) :=
  match sfield p code prog (fun _ => true) T i st with Some x => Some x | None => word_copy i st end.

Definition over_base (st : fstate) (s : sstate) : fstate := FS s (known st) (failures st) (fnames st).

(* Where a loop's next turn begins, as in `walk`. *)
Variable turn_at : list Z -> bool.
Variable arrives : fstate -> list fact -> path -> bool.
Variable after : Z.
Definition fcomes (st : fstate) (w : way) : bool := match snd w with Again q => arrives st (fst w) q | _ => false end.

(* From the bytes that are left, as `walk`. *)
Fixpoint fwalk (fuel : nat) (T : tables) (ways : list way) (rest : list Z) (st : fstate) : option spent :=
  match fuel with
  | O => None
  | Datatypes.S fuel =>
      let s := base st in
      let over r hs names := FS (S r (smem s) (smw s) hs) (known st) (failures st) names in
      match fdecode next rest with
      | Some (i, n) =>
          match field_step T i st with
          | Some (cost, st') =>
              let l := excluded st st' in
              if forallb (fun w => failed w || all_false l w) ways && (0 <=? cost) && within (sstack (base st')) then
                match filter (fun w => negb (some_true l w)) ways with
                | [] => Some (0, hints (base st'), fnames st')
                | ways => plus cost (fwalk fuel T ways (skipn n rest) st')
                end
              else None
          | None => None
          end
      | None =>
          let '(i, n) := decode rest in
          let plain :=
              match splain p prog T i (over_base st (widened i s)) with
              | Some (cost, st) =>
                  if (0 <=? cost) && within (sstack (base st)) then plus cost (fwalk fuel T ways (skipn n rest) st) else None
              | None =>
                  match word_step p wnames (fun x => x) i s with
                  | Some (cost, s) => if within (sstack s) then plus cost (fwalk fuel T ways (skipn n rest) (over_base st s)) else None
                  | None => None
                  end
              end in
          match i, sstack s with
          | JUMPDEST, _ =>
              if forallb again ways && turn_at rest then if forallb (fcomes st) ways then Some (after, hints s, fnames st) else None else plain
          | JUMP, d :: r =>
              match exactly d with
              | Some d =>
                  if (0 <=? d) && valid jumps d && within r then
                    plus 8 (fwalk fuel T ways (skipn (Z.to_nat d) code) (over r (hints s) (fnames st)))
                  else None
              | None => None
              end
          | JUMPI, d :: x :: r =>
              match exactly d, iszero p x with
              | Some d, Some c =>
                  if within r then
                    let on :=
                      match where_ p c true ways with
                      | [] => Some (0, hints s, fnames st)
                      | l => fwalk fuel T l (skipn n rest) (over r (hints s) (fnames st))
                      end in
                    match on with
                    | Some (g, hs, names) =>
                        match where_ p c false ways with
                        | [] => Some (10 + g, hs, names)
                        | l =>
                            if (0 <=? d) && valid jumps d then
                              match fwalk fuel T l (skipn (Z.to_nat d) code) (over r hs names) with
                              | Some (g', hs, names) => Some (10 + Z.max g g', hs, names)
                              | None => None
                              end
                            else None
                        end
                    | None => None
                    end
                  else None
              | _, _ => None
              end
          | INVALID, _ => if forallb failed ways then Some (0, hints s, fnames st) else None
          | RETURN, x :: n :: _ =>
              match slot_of x, exactly n with
              | Some (a, key), Some n =>
                  let mw := grown (smw s) a n in
                  let cost := cmem mw - cmem (smw s) + beside (kept (known st)) (smw s) mw in
                  if forallb (returned p T (smem s) key n) ways && (0 <=? cost) then Some (cost, hints s, fnames st) else None
              | _, _ => None
              end
          | _, _ => plain
          end
      end
  end.

End Prime.

Definition check_flow_slots (next : bool) (P : flow) (h : hints_of_flow) (code : list Z) : option Z :=
  let p := f_modulus P in
  if forallb (fun b => between 0 b 255) code && Z.odd p then
    match paths_of P h with
    | Some (Q, T, ways) =>
        match fwalk p next code (blank next O O code) Q (h_words h) (fun _ => false) (fun _ _ _ => false) 0 (Z.to_nat (h_steps h)) T ways code
                (FS (S [] (M.empty sword) 0 (w_values (h_witness h))) None [] (w_names (h_witness h))) with
        | Some (g, _, _) => Some g
        | None => None
        end
    | None => None
    end
  else None.
