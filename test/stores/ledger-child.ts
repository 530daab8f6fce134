// Another process that uses a ledger: sets aside and counts as often as it can, and says how often it was let.
import { openSqliteLedger } from '../../src/adapters/stores/ledger/sqlite.ts';
import { systemClock } from '../../src/base/clock.ts';
import { accountOfTenant } from '../../src/kernel/ledger.ts';
import { aCall, aSpender } from '../conformance/ledger.ts';

const [file = '', name = ''] = process.argv.slice(2);
const ledger = await openSqliteLedger({ file, clock: systemClock });
const caps = [{ account: accountOfTenant('acme'), period: '2026-10', money: '5' }];
let granted = 0;
for (let round = 0; round < 100; round++) {
  const id = `${name}${round}`;
  const figures = { calls: 1, actions: 0, tokens: 1, money: '0.1' };
  const asked = { id, conversationId: id, owner: name, until: systemClock.now() + 600_000, caps };
  if (ledger.reserve({ ...asked, ...figures }).ok) granted++;
  ledger.add(aSpender(id), [aCall(1)], { through: 1 });
}
ledger.close();
process.send?.(granted);
process.disconnect();
