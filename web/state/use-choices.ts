import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { api } from '../api/calls.ts';
import type { Capabilities, ChangeSelection } from '../api/types.ts';
import { patched } from './choices.ts';
import { queries } from './queries.ts';
import { SelectionWriter } from './selection-writer.ts';

/** What the person may choose of an agent, and what becomes of a choice. Nothing is loaded before it is wanted. */
export function useChoices(agent: string | undefined, conversation: string | undefined, isWanted: boolean) {
  const capabilities = useQuery({
    queryKey: ['capabilities', agent, conversation],
    queryFn: () => api.capabilities(agent ?? '', conversation),
    enabled: isWanted && agent !== undefined,
  });
  const writer = useMemo(() => {
    const scoped = (change: ChangeSelection): ChangeSelection =>
      conversation === undefined ? change : { ...change, conversation };
    return new SelectionWriter({
      priced: (change) => api.consequence(agent ?? '', scoped(change)),
      write: (change, { isLast } = { isLast: false }) => api.changeSelection(agent ?? '', scoped(change), isLast),
      changed: () => queries.invalidateQueries({ queryKey: ['capabilities', agent] }),
      after: (ms, then) => {
        const timer = setTimeout(then, ms);
        return () => {
          clearTimeout(timer);
        };
      },
    });
  }, [agent, conversation]);
  useEffect(() => {
    const letGo = (): void => {
      writer.letGo();
    };
    window.addEventListener('pagehide', letGo);
    return () => {
      window.removeEventListener('pagehide', letGo);
      writer.letGo();
    };
  }, [writer]);
  const view = useSyncExternalStore(
    useMemo(() => (listener: () => void) => writer.subscribe(listener), [writer]),
    () => writer.view,
  );
  const { unsaved } = view;
  const data = useMemo<Capabilities | undefined>(() => {
    if (capabilities.data === undefined || unsaved === undefined) return capabilities.data;
    return { ...capabilities.data, selection: patched(capabilities.data.selection, unsaved) };
  }, [capabilities.data, unsaved]);
  return { ...view, data, capabilities, writer };
}

export type Choosing = ReturnType<typeof useChoices>;
