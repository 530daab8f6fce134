import path from 'node:path';
import { systemClock } from '../../base/clock.ts';
import type { ModelSource } from '../../kernel/model.ts';
import { loadScript, type ScriptData } from '../../adapters/models/script.ts';
import { createScriptedModel } from '../../adapters/models/scripted.ts';
import type { Suite } from './suite.ts';

/** The scripted model for every name; undefined for the models of the bundle. */
export async function modelsOf(given: Suite['model'], folder: string): Promise<ModelSource | undefined> {
  if (given === undefined) return undefined;
  const script =
    'replies' in given
      ? ({ replies: given.replies } as ScriptData)
      : await loadScript(path.resolve(folder, given.script));
  const model = createScriptedModel(script, { clock: systemClock });
  return { open: () => model };
}
