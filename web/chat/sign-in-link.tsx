import { isWebAddress } from '../state/accounts.ts';

/** Where one signs in, for whose browser opens no windows. */
export function SignInLink({ url }: { readonly url: string }) {
  if (!isWebAddress(url)) return null;
  return (
    <p className="remark" role="status">
      Sign in at{' '}
      <a href={url} target="_blank" rel="noreferrer noopener">
        {new URL(url).host}
      </a>
      ; this page notices when you are done.
    </p>
  );
}
