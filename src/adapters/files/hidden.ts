import ignore from 'ignore';

/** What no tool reads or writes in any root: the log of the runs, which has what everybody said. */
const NEVER = ['.treadle'];

/** What may be read and never written: hooks and settings that git runs when somebody else next uses it. */
const NEVER_WRITTEN = ['.git'];

export interface HiddenPaths {
  /** Neither read nor written nor listed. */
  isHidden(path: string): boolean;
  isProtected(path: string): boolean;
}

/** `patterns` are those of a `.gitignore`. */
export function hiddenPaths(patterns: readonly string[]): HiddenPaths {
  // By default letters of either case are alike, as on disks that do not tell them apart.
  const rules = patterns.length === 0 ? undefined : ignore({ allowRelativePaths: true }).add([...patterns]);
  return {
    isHidden: (path) =>
      path !== '' &&
      (hasName(path, NEVER) || (rules !== undefined && (rules.ignores(path) || rules.ignores(folded(path))))),
    isProtected: (path) => hasName(path, NEVER_WRITTEN),
  };
}

function hasName(path: string, names: readonly string[]): boolean {
  return path.split('/').some((one) => names.includes(folded(one)));
}

/** Names that some disk takes for one another: other cases, compatibility forms, letters that nobody sees, dots at the end. */
function folded(name: string): string {
  return name
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replaceAll(/[. ]+$/g, '')
    .toLowerCase();
}
