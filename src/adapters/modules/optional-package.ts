import { TreadleError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';

/**
 * Loads a package that Treadle can do without, on first use: `load` is `() => import('name')`.
 *
 * Throws `package_missing` where it is not installed, with what to install; `needs` are all the packages that `purpose`
 * (such as "reading PDF files") takes, with the range where the newest will not do: `name@~1.2.0`. A package that is there and fails is its own error.
 */
export async function optionalPackage<T>(
  load: () => Promise<T>,
  { purpose, needs }: { readonly purpose: string; readonly needs: readonly string[] },
): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if (!isNotFound(cause, needs)) throw cause;
    throw new TreadleError('package_missing', {
      place: purpose,
      wanted: `the ${needs.length === 1 ? 'package' : 'packages'} ${needs.join(', ')}`,
      hint: `npm install ${needs.join(' ')}`,
      data: { packages: needs },
      cause,
    });
  }
}

/** Whether one of these is missing, and not something that they look for themselves. */
function isNotFound(cause: unknown, needs: readonly string[]): boolean {
  if (!isObject(cause) || cause['code'] !== 'ERR_MODULE_NOT_FOUND') return false;
  const { message } = cause;
  return typeof message === 'string' && needs.some((one) => message.includes(`'${nameOf(one)}'`));
}

/** Without its range; a scope begins with the same sign. */
function nameOf(need: string): string {
  return need.replace(/(?<=.)@.*/, '');
}
