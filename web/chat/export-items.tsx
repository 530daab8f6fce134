import { Menu } from '@base-ui/react/menu';
import { Check } from 'lucide-react';
import { useState } from 'react';
import type { RunSummary } from '../api/types.ts';
import { fileName } from '../state/file-name.ts';
import { FORMATS, transcriptOf, type Format } from '../state/transcript.ts';
import { copyText } from '../ui/clipboard.ts';
import { downloadBlob } from '../ui/download.ts';

type What = Format | 'copy';

/** What can be taken along from a conversation, as items of a menu. It stays open to say how that went. */
export function ExportItems({ run }: { readonly run: Pick<RunSummary, 'id' | 'title'> }) {
  const [busy, setBusy] = useState<What>();
  const [done, setDone] = useState<What>();
  const [problem, setProblem] = useState<string>();
  const take = (what: What, work: () => Promise<void>): void => {
    if (busy !== undefined) return;
    setBusy(what);
    setDone(undefined);
    setProblem(undefined);
    work()
      .then(
        () => {
          setDone(what);
        },
        (error: unknown) => {
          setProblem(error instanceof Error ? error.message : 'This did not work.');
        },
      )
      .finally(() => {
        setBusy(undefined);
      });
  };
  const words = (what: What, idle: string, past: string): React.ReactNode => {
    if (busy === what) return 'Gathering it…';
    if (done !== what) return idle;
    return (
      <>
        {past} <Check size={14} aria-hidden />
      </>
    );
  };
  return (
    <>
      <Menu.Item
        className="menu-item"
        closeOnClick={false}
        onClick={() => {
          take('copy', async () => copyText(transcriptOf(run.id, 'md').then((blob) => blob.text())));
        }}
      >
        {words('copy', 'Copy as Markdown', 'Copied')}
      </Menu.Item>
      {FORMATS.map(({ format, label }) => (
        <Menu.Item
          key={format}
          className="menu-item"
          closeOnClick={false}
          onClick={() => {
            take(format, async () => {
              downloadBlob(fileName(run, format), await transcriptOf(run.id, format));
            });
          }}
        >
          {words(format, `Export as ${label}`, `Exported as ${label}`)}
        </Menu.Item>
      ))}
      {problem === undefined ? null : (
        <p className="menu-about field-problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
