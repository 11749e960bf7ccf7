/**
 * `npm run screenshots`: writes a picture of each console page into test-results/screenshots.
 * Each page is taken light, dark, wide, narrow, in English and in Chinese, over simulated devices.
 * `-- devices jobs` takes only those pages.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { build, root } from './build.mjs';

await build();
const [
  { removeDataDir, startHub },
  { startFleet },
  { openBrowser, openConsole, seriousViolations },
  { furnish, pages },
] = await Promise.all([
  import('../test/dist/hub/hub-process.js'),
  import('../test/dist/devices/simulated-fleet.js'),
  import('../test/dist/console/console-browser.js'),
  import('../test/dist/console/console-scenery.js'),
]);

const folder = path.join(root, 'test-results/screenshots');
mkdirSync(folder, { recursive: true });
const wanted = process.argv.slice(2);
const views = [
  { name: 'light', colorScheme: 'light', width: 1360, height: 860 },
  { name: 'dark', colorScheme: 'dark', width: 1360, height: 860 },
  { name: 'narrow', colorScheme: 'light', width: 360, height: 740 },
  { name: 'narrow-dark', colorScheme: 'dark', width: 360, height: 740 },
  { name: 'zh', colorScheme: 'light', width: 1360, height: 860, language: 'zh' },
  { name: 'zh-narrow-dark', colorScheme: 'dark', width: 360, height: 740, language: 'zh' },
];

const hub = await startHub({
  env: {
    FLOTILLA_STATUS_INTERVAL_SECONDS: '15',
    FLOTILLA_SMTP_URL: 'smtp://127.0.0.1:9',
    FLOTILLA_SMTP_FROM: 'hub@hub.example',
  },
});
const fleet = startFleet(hub, { devices: 60, transport: 'mixed' });
const browser = await openBrowser();
try {
  const scenery = await furnish(hub, 60);
  for (const { name: view, language, ...options } of views) {
    const signedOut = await openConsole(browser, hub, { ...options, key: null });
    await signedOut.page.goto('/');
    await signedOut.page.getByRole('button', { name: 'Sign in' }).waitFor();
    if (wanted.length === 0) await signedOut.page.screenshot({ path: path.join(folder, `sign-in.${view}.png`) });
    await signedOut.close();
    const { page, visit, complaints, close } = await openConsole(browser, hub, options);
    if (language) await page.evaluate(`localStorage.setItem('flotilla.language', '${language}')`);
    for (const { name, pathOf } of pages.filter((entry) => wanted.length === 0 || wanted.includes(entry.name))) {
      await visit(pathOf(scenery));
      // Charts and pictures come after the heading.
      await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => undefined);
      await page.waitForTimeout(400);
      await page.screenshot({ path: path.join(folder, `${name}.${view}.png`) });
      const width = await page.evaluate('document.documentElement.scrollWidth');
      if (width > options.width) console.log(`${name}.${view}: ${width} px wide`);
      for (const violation of await seriousViolations(page)) console.log(`${name}.${view}: ${violation}`);
    }
    for (const complaint of complaints) console.log(`${view}: ${complaint}`);
    await close();
  }
} finally {
  await browser.close();
  await fleet.stop();
  await hub.stop();
  removeDataDir(hub.dataDir);
}
console.log(`Screenshots are in ${path.relative(root, folder)}.`);
