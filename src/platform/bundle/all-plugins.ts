import type { Plugin } from '../../kernel/plugin.ts';
import { createCursorFolder } from '../../adapters/files/cursor-folder.ts';
import { createFolderWriter } from '../../adapters/files/folder-writer.ts';
import { createWebhook } from '../../adapters/net/webhook.ts';
import { detect } from '../../adapters/safety/detect.ts';
import { compileSchema } from '../../adapters/schema/ajv.ts';
import { contentSafety } from '../../plugins/gates/content-safety.ts';
import { jsonSchema } from '../../plugins/gates/json-schema.ts';
import { transcriptObserver } from '../../plugins/observers/transcript.ts';
import { webhookObserver } from '../../plugins/observers/webhook.ts';
import { shippedPlugins } from '../../plugins/shipped.ts';

/** Every plugin that comes with Treadle: those that need an adapter are given it here. */
export const allPlugins: readonly Plugin[] = [
  ...shippedPlugins,
  contentSafety(detect),
  jsonSchema(compileSchema),
  webhookObserver({ open: createWebhook, cursors: createCursorFolder }),
  transcriptObserver(createFolderWriter),
];
