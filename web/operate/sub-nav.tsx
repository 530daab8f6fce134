import { Link, useLocation } from 'wouter';

/** Pages that belong together, one of them shown. */
export function SubNav({
  label,
  pages,
}: {
  readonly label: string;
  readonly pages: readonly { readonly href: string; readonly text: string }[];
}) {
  const [path] = useLocation();
  return (
    <nav className="sub-nav" aria-label={label}>
      {pages.map(({ href, text }) => (
        <Link key={href} href={href} aria-current={path === href ? 'page' : undefined}>
          {text}
        </Link>
      ))}
    </nav>
  );
}

export const SPENDING = [
  { href: '/usage', text: 'Usage' },
  { href: '/budgets', text: 'Budgets' },
] as const;

export const ACCESS = [
  { href: '/keys', text: 'Keys' },
  { href: '/accounts', text: 'Accounts' },
  { href: '/allowances', text: 'Allowances' },
  { href: '/notes', text: 'Notes' },
] as const;
