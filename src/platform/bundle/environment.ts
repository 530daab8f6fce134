import process from 'node:process';

/** Variables by name. Passed in wherever one is needed, so that nothing else reads the process's own. */
export type Environment = Readonly<Record<string, string | undefined>>;

export function processEnvironment(): Environment {
  return process.env;
}
