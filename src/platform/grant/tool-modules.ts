import { createRequire } from 'node:module';
import path from 'node:path';
import { importEdited, type ImportedModule } from '../../adapters/modules/edited-modules.ts';
import { TreadleError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import { insideFolder, readText } from '../bundle/bundle-files.ts';
import { compileTool, type CompiledTool } from './catalog.ts';

export interface LoadedModule {
  readonly tools: readonly CompiledTool[];
  /** Changes when the file does, or one of the folder that it imports. */
  readonly digest: string;
  readonly files: readonly string[];
}

/**
 * Load the tools of a module: a file in the folder of the bundle, or an npm package that can be found from there.
 *
 * The module is run: tools are the operator's code. It exports tools one by one, or `tools`, a list. Throws
 * `bundle_unreadable`, `tool_module` or `tool_schema` with `place`, where the bundle names it.
 */
export async function loadToolModule(
  named: string,
  folder: string,
  place: string,
  shown = JSON.stringify(named),
): Promise<LoadedModule> {
  const { module, digest, files } = await importModule(named, folder, place, shown);
  const tools = exported(module, shown, place).map(([at, spec]) => compileTool(spec, `${place}: ${shown} ${at}`));
  if (tools.length === 0) {
    throw new TreadleError('tool_module', {
      place,
      found: `${shown}, which exports no tool`,
      wanted: 'exported tools, or a list of them called tools',
      hint: 'write export const add = defineTool({ … })',
    });
  }
  const twice = tools.find(({ own }, index) => tools.findIndex((one) => one.own === own) !== index);
  if (twice !== undefined) {
    throw new TreadleError('tool_module', {
      place,
      found: `${shown} with two tools called ${twice.own}`,
      wanted: 'one',
    });
  }
  return { tools, digest, files };
}

/** What a module exports, which may be anything. Throws `bundle_unreadable` or `tool_module` with `place`. */
export async function importModule(
  named: string,
  folder: string,
  place: string,
  shown: string,
): Promise<ImportedModule> {
  const file = locate(named, folder, place, shown);
  readText(file, place);
  try {
    return await importEdited(file, folder);
  } catch (cause) {
    throw new TreadleError('tool_module', {
      place,
      found: `${shown}, which fails: ${cause instanceof Error ? cause.message : String(cause)}`,
      wanted: 'a module that can be imported',
      cause,
    });
  }
}

function locate(named: string, folder: string, place: string, shown: string): string {
  const isFile = /^\.\.?[/\\]/.test(named) || path.isAbsolute(named) || /\.[cm]?[jt]s$/.test(named);
  if (isFile) return insideFolder(folder, named, place, shown);
  if (/^(@[\w.-]+\/)?[\w-][\w.-]*(\/[\w./-]+)?$/.test(named)) {
    try {
      const found = createRequire(path.join(folder, 'bundle.js')).resolve(named);
      if (path.isAbsolute(found)) return found; // Node's own modules are not files and bring no tools
    } catch (cause) {
      const isClosed = isObject(cause) && cause['code'] === 'ERR_PACKAGE_PATH_NOT_EXPORTED';
      if (isClosed) {
        throw new TreadleError('tool_module', {
          place,
          found: `${shown}, which can only be imported by a module`,
          wanted: 'a package that can be found from here',
          hint: `write a file ./tools.js with export * from the package, and name that`,
          cause,
        });
      }
      throw new TreadleError('tool_module', {
        place,
        found: `${shown}, which is not installed`,
        wanted: 'builtin/ and a group, a file such as ./tools/notes.ts, or an installed package',
        hint: 'write ./ before the name of a file, or install the package',
        cause,
      });
    }
  }
  throw new TreadleError('tool_module', {
    place,
    found: shown,
    wanted: 'builtin/ and a group, a file such as ./tools/notes.ts, or an installed package',
  });
}

/** What looks like a tool, with the name of the export. Anything else that a module exports is its own business. */
function exported(module: unknown, shown: string, place: string): readonly (readonly [string, unknown])[] {
  if (!isObject(module)) return [];
  const list = module['tools'];
  if (Array.isArray(list)) return list.map((spec: unknown, index) => [`tools[${index}]`, spec] as const);
  if (list !== undefined && !isObject(list)) {
    throw new TreadleError('tool_module', {
      place,
      found: `${shown} with tools that is no list`,
      wanted: 'a list of tools',
    });
  }
  return Object.entries(module).filter(([, value]) => isObject(value) && 'run' in value && 'name' in value);
}
