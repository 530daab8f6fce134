import { Check, Copy, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { IconButton } from './button.tsx';
import { copyText } from './clipboard.ts';

export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [outcome, setOutcome] = useState<'copied' | 'failed'>();
  useEffect(() => {
    if (outcome === undefined) return;
    const timer = setTimeout(() => {
      setOutcome(undefined);
    }, 1_500);
    return () => {
      clearTimeout(timer);
    };
  }, [outcome]);
  return (
    <IconButton
      label={outcome === 'copied' ? 'Copied' : outcome === 'failed' ? 'It could not be copied' : label}
      onClick={() => {
        copyText(text).then(
          () => {
            setOutcome('copied');
          },
          () => {
            setOutcome('failed');
          },
        );
      }}
    >
      {outcome === 'copied' ? <Check size={15} /> : outcome === 'failed' ? <X size={15} /> : <Copy size={15} />}
    </IconButton>
  );
}
