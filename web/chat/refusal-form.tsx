import { useKept } from '../state/kept.ts';
import { Button } from '../ui/button.tsx';

/** Why not: the agent reads it, and does better next time. */
export function RefusalForm({
  id,
  name,
  isBusy,
  onSubmit,
  onCancel,
}: {
  readonly id: string;
  /** Under which the words are kept. */
  readonly name: string;
  readonly isBusy: boolean;
  readonly onSubmit: (note: string) => void;
  readonly onCancel: () => void;
}) {
  const [note, setNote] = useKept(`refusal ${name}`, '');
  return (
    <form
      className="approval-reject"
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(note.trim());
      }}
    >
      <label htmlFor={`why-${id}`}>Why not? The agent reads it. You may leave it empty.</label>
      <textarea
        id={`why-${id}`}
        className="field"
        rows={2}
        autoFocus
        value={note}
        onChange={(event) => {
          setNote(event.target.value);
        }}
      />
      <div className="approval-buttons">
        <Button type="submit" look="danger" disabled={isBusy}>
          Refuse
        </Button>
        <Button look="quiet" onClick={onCancel}>
          Back
        </Button>
      </div>
    </form>
  );
}
