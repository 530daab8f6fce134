// Every generated page of docs/, by file name. A page is a function of the sources and of nothing else.
import { renderCliDoc } from './cli.ts';
import { renderConfigurationDoc } from './configuration.ts';
import { renderErrorsDoc } from './errors.ts';
import { renderEventsDoc } from './events.ts';
import { renderPluginsDoc } from './plugins.ts';
import { renderRunApiDoc } from './run-api.ts';
import { renderToolsDoc } from './tools.ts';

export const pages: Readonly<Record<string, () => string>> = {
  'cli.md': renderCliDoc,
  'configuration.md': renderConfigurationDoc,
  'errors.md': renderErrorsDoc,
  'events.md': renderEventsDoc,
  'plugins.md': renderPluginsDoc,
  'run-api.md': renderRunApiDoc,
  'tools.md': renderToolsDoc,
};
