import { AlertDialog } from '@base-ui/react/alert-dialog';
import { useState } from 'react';
import { Button } from './button.tsx';

export interface ConfirmProps {
  readonly isOpen: boolean;
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly onClose: () => void;
  /** The dialog stays, and says why, when it rejects. */
  readonly onConfirm: () => Promise<void>;
}

/** For what cannot be undone. */
export function Confirm({ isOpen, title, text, action, onClose, onConfirm }: ConfirmProps) {
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  return (
    <AlertDialog.Root
      open={isOpen}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title render={<h2 />}>{title}</AlertDialog.Title>
          <AlertDialog.Description>{text}</AlertDialog.Description>
          {problem === undefined ? null : (
            <p className="field-problem" role="alert">
              {problem}
            </p>
          )}
          <div className="dialog-buttons">
            <AlertDialog.Close render={<Button />}>Keep it</AlertDialog.Close>
            <Button
              look="danger"
              disabled={isBusy}
              onClick={() => {
                setBusy(true);
                onConfirm()
                  .then(onClose, (error: unknown) => {
                    setProblem(error instanceof Error ? error.message : 'This did not work.');
                  })
                  .finally(() => {
                    setBusy(false);
                  });
              }}
            >
              {action}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
