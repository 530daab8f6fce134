import type { Plugin } from '../kernel/plugin.ts';
import { detect } from '../adapters/safety/detect.ts';
import { compileSchema } from '../adapters/schema/ajv.ts';
import { contentSafety } from '../plugins/gates/content-safety.ts';
import { jsonSchema } from '../plugins/gates/json-schema.ts';
import { shippedPlugins } from '../plugins/shipped.ts';

/** Every plugin that comes with Treadle: those that need an adapter are given it here. */
export const allPlugins: readonly Plugin[] = [...shippedPlugins, contentSafety(detect), jsonSchema(compileSchema)];
