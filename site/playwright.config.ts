import { defineConfig } from '@playwright/test';

/** Debian's Chromium, or another one that is named. */
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
/** A port of this run: workers inherit it from the process that reads this first. */
const PORT = (process.env['RESIDUE_PAGE_PORT'] ??= String(20_000 + (process.pid % 20_000)));

export default defineConfig({
  testDir: 'tests',
  timeout: 60_000,
  workers: 1,
  expect: { timeout: 20_000 },
  reporter: 'list',
  use: {
    baseURL: `http://127.0.0.1:${PORT}/`,
    launchOptions: { executablePath, args: ['--no-sandbox'] },
    permissions: ['clipboard-read', 'clipboard-write'],
  },
  webServer: {
    command: `${process.env['RESIDUE'] ?? '../target/release/residue'} explore --port ${PORT} --no-open`,
    url: `http://127.0.0.1:${PORT}/`,
    reuseExistingServer: false,
  },
});
