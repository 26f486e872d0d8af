/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page.mjs - a report in headless Chromium, as a reader uses it.
 *
 * `node page.mjs CHROMIUM REPORT.html SCREENSHOTS [OPTIONS.html]`: at three widths, in light
 * and in dark, it opens each figure's chart, points and zooms, sorts and filters a table; of
 * a report with options it reads what stands first.  Prints a line "ok TEXT" or "not ok
 * TEXT" for each thing that must hold.
 */
import { chromium } from 'playwright-core';

const [program, report, folder, options] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
const heard = [];

function hold(what, holds) { console.log((holds ? 'ok ' : 'not ok ') + what); }

function listen(page) {
    page.on('console', m => { if (m.type() === 'error') heard.push(m.text()); });
    page.on('pageerror', e => heard.push(String(e)));
    page.on('request', r => {
        if (!/^(data:|file:.*report\.html$)/.test(r.url()))
            heard.push('request of ' + r.url());
    });
}

async function try_figure(page, name, width) {
    const figure = page.locator(`figure[data-figure=${name}]`);
    const button = figure.getByRole('button', { name: /look closer/ });

    await button.press('Enter');
    hold(`${name} opens at ${width}`, await button.getAttribute('aria-expanded') === 'true');
    const over = figure.locator('.u-over').first();
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    hold(`${name} is as wide as the page at ${width}`, box.x >= 0 && box.x + box.width <= width);
    const said = figure.locator(name === 'gantt' ? '[role=status]' : '.u-legend').last();
    const before = await said.textContent();
    for (const part of [0.4, 0.55, 0.7])
        await page.mouse.move(box.x + box.width * part, box.y + box.height * 0.3);
    hold(`${name} says what is pointed at, at ${width}`, await said.textContent() !== before);
    await figure.getByRole('button', { name: 'zoom in' }).click();
    await figure.getByRole('button', { name: 'all' }).click();
    await figure.screenshot({ path: `${folder}/${name}_${width}.png` });
}

async function try_table(page) {
    const table = page.locator('.wide > table').filter({ hasText: 'jobs done' }).first();
    const first = () => table.locator('tbody tr').first().textContent();
    const before = await first();
    const head = table.locator('thead th').nth(1);

    await head.getByRole('button').click();
    hold('a click sorts upward', await head.getAttribute('aria-sort') === 'ascending');
    await head.getByRole('button').click();
    hold('a second click sorts downward', await head.getAttribute('aria-sort') === 'descending');
    const numbers = (await table.locator('tbody tr td:nth-child(2)').allTextContents())
        .map(text => parseFloat(text.replace(/,/g, ''))).filter(value => !isNaN(value));
    hold('numbers stand by size', numbers.length > 3 &&
         numbers.every((value, i) => i === 0 || numbers[i - 1] >= value));
    await head.getByRole('button').click();
    hold('a third click restores the order', await first() === before);
    const field = page.getByRole('searchbox').last();
    await field.fill('zzz nothing');
    hold('a filter hides rows that lack its words',
         / 0 of /.test(' ' + await page.locator('.count').last().textContent()));
    await field.fill('');
}

/* The sentence is the first thing below the heading; the table follows it at once. */
async function try_options(page, width) {
    const first = page.locator('h2 + p.answer');

    hold(`the answer is a sentence on options at ${width}`,
         /^(Take|Keep|Undecided|Take none)\b.* total cost /.test(await first.textContent()));
    const table = page.locator('h2 + p.answer + p + .wide > table');
    hold(`the options stand below it at ${width}`,
         (await table.locator('tbody tr').count()) === 5 &&
         /take|best mean/.test(await table.textContent()) &&
         (await table.locator('small.worse').count()) > 0);
    const box = await first.boundingBox();
    hold(`the sentence is seen without scrolling at ${width}`,
         box.y + box.height <= 900 && box.x >= 0 && box.x + box.width <= width);
    await page.screenshot({ path: `${folder}/options_${width}.png` });
}

for (const [width, dark] of [[1280, false], [800, true], [390, false]]) {
    const page = await browser.newPage({ viewport: { width: width, height: 900 },
                                         colorScheme: dark ? 'dark' : 'light' });

    listen(page);
    page.setDefaultTimeout(20000);
    await page.goto('file://' + report);
    hold(`nothing is wider than the page at ${width}`,
         await page.evaluate(() => document.documentElement.scrollWidth) <= width);
    await page.screenshot({ path: `${folder}/top_${width}.png` });
    if (width === 1280)
        await try_table(page);
    for (const name of ['jct_cdf', 'timeline', 'sweep', 'gantt'])
        if (await page.locator(`figure[data-figure=${name}]`).count() > 0)
            await try_figure(page, name, width);
    if (width === 1280) {
        await page.emulateMedia({ media: 'print' });
        hold('print shows pictures and no buttons',
             await page.locator('figure button:visible').count() === 0 &&
             await page.locator('figure img:visible').count() > 0);
    }
    if (options) {
        await page.emulateMedia({ media: 'screen' });
        await page.goto('file://' + options);
        hold(`options make nothing wider than the page at ${width}`,
             await page.evaluate(() => document.documentElement.scrollWidth) <= width);
        await try_options(page, width);
    }
    await page.close();
}
hold('no error in the console, no request leaves the page: ' + heard.join('; '), heard.length === 0);
await browser.close();
