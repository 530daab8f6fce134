import { mapStrings, toJson } from '../../base/json.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { ReplayReport } from '../replay/report.ts';
import { permit, type Caller } from './caller.ts';
import { bundleOf, runOf, type RunsPorts } from './ports.ts';
import type { ReplayRun } from './runs.ts';

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** A run again, by its own log or under another bundle. What does that is loaded when somebody first asks for it. */
export async function replay(
  ports: RunsPorts,
  caller: Caller,
  id: string,
  { bundle, upTo }: ReplayRun,
): Promise<ReplayReport> {
  const row = await runOf(ports, caller, 'read', id);
  const { factsOf, replay: run } = await import('../replay/replay.ts');
  if (bundle === undefined) return run(row, await factsOf(ports.log, id), { upTo, logger: silent });
  permit(caller, 'admin'); // a bundle may name modules of its folder, and tells what it reads
  const facts = await factsOf(ports.log, id);
  const [{ bundleRules, recordedReach }, { allPlugins }] = await Promise.all([
    import('../replay/bundle-rules.ts'),
    import('../bundle/all-plugins.ts'),
  ]);
  const edited = await bundleOf(ports, row).edited(bundle, recordedReach(row, facts));
  const rules = bundleRules(row, facts, { ...edited, bundle: edited.loaded, plugins: allPlugins, logger: silent });
  try {
    const report = await run(row, facts, { rules, upTo, logger: silent });
    return mapStrings(toJson(report), rules.masked) as unknown as ReplayReport; // every text is still one
  } finally {
    await rules.close();
  }
}
