"""Counts the distinct URLs of a crawl list or an access log with Spark: how often each canonical form and each registrable domain occurs.

  spark-submit distinct_urls.py --out DIR FILE...              a URL on each line; *.gz is read as such
  spark-submit distinct_urls.py --log --out DIR FILE...        the request targets of an access log (common or combined)
  spark-submit distinct_urls.py --pipe pct --out DIR FILE...   with the command `pct`, where the wheel cannot be installed

DIR/urls has each canonical form, its number of rows and one of these rows; DIR/domains each registrable domain and its number of
rows; DIR/bad every row that has no form, as it was, and the reason: no row ends the job. All are Parquet. With --pipe there are no
domains and no examples. A row is bad if it has a malformed escape, if the profile refuses it, or if it is not UTF-8.

The executors need the package simdpct, and pyarrow and pandas, which Spark's mapInArrow needs.
"""
import argparse
import re

from pyspark import StorageLevel
from pyspark.sql import SparkSession, functions

# A good row of the result has a form, the number of rows of the batch with this form, its registrable domain, and the first of these
# rows. A bad row has the reason and the row.
SCHEMA = 'url string, rows bigint, reason string, row binary, domain string, example string'
# Matches a line of the common and combined formats. A quote in the request is written as \" or \x22.
REQUEST = r'^\S+ \S+ \S+ \[[^\]]*\] "[^ "]+ (?P<target>(?:[^ "\\]|\\.)+)[ "]'


def canonical(lines, profile, log=False):
    """Returns a record batch of SCHEMA for an array of lines, which are strings or bytes in any encoding."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import simdpct

    rows = lines.cast(pa.binary())
    if pc.any(pc.ends_with(rows, '\r')).as_py():
        rows = pc.replace_substring_regex(rows, r'\r\z', '')
    values = pc.struct_field(pc.extract_regex(rows, REQUEST), [0]) if log else rows
    # The column has text, so a form that is not valid UTF-8 becomes null. A task has one core, so `threads` is 1.
    text = values.cast(pa.string(), safe=False)
    forms = pa.array(simdpct.canonicalize_array(text, profile, errors='null', threads=1))
    malformed = pa.array(simdpct.malformed_array(values, threads=1))
    bad = pc.or_(pc.is_null(forms), pc.fill_null(malformed, True))

    # Rows with the same form become one row, because sending rows back to Spark costs more than the code above.
    table = pa.table({'url': forms, 'example': text}).filter(pc.invert(bad))
    keys = table.group_by('url', use_threads=False).aggregate([([], 'count_all'), ('example', 'first')])
    urls = keys['url'].combine_chunks()
    reasons = [why_bad(value, profile) for value in values.filter(bad).to_pylist()]
    names = re.findall(r'(\w+) \w+', SCHEMA)
    good = pa.record_batch([urls, keys['count_all'].combine_chunks(), pa.nulls(len(urls), pa.string()), pa.nulls(len(urls), pa.binary()),
                            pa.array(simdpct.url_array(urls, 'domain', threads=1)), keys['example_first'].combine_chunks()], names=names)
    if not reasons:
        return [good]
    no_text = pa.nulls(len(reasons), pa.string())
    wrong = pa.record_batch([no_text, pa.array([1] * len(reasons), pa.int64()), pa.array(reasons), rows.filter(bad), no_text, no_text], names=names)
    return [good, wrong]


def why_bad(value, profile):
    """Returns the reason why `value` has no form. The value is None if the line has no URL."""
    import simdpct

    if value is None:
        return 'no request in the line'
    try:
        simdpct.validate(value)
        simdpct.canonicalize(value, profile, errors='strict')
    except simdpct.MalformedEscape as error:
        return f'malformed escape: {error}'
    except ValueError as error:
        return str(error)
    return 'not UTF-8'


def by_wheel(lines, profile, log):
    def batches(of_lines):
        for batch in of_lines:
            yield from canonical(batch.column(0), profile, log)

    return lines.mapInArrow(batches, SCHEMA)


# Prints each good form after a '+', then each rejected row after a '-'. The rows were read as Latin-1, and Spark writes them to the
# pipe as UTF-8: `iconv` restores their bytes. A pipe starts with an empty environment.
PIPE = r"""bash -c 'set -o pipefail; bad=$(mktemp) && trap "rm -f $bad" EXIT &&
iconv -f UTF-8 -t ISO-8859-1 |
"$PCT" normalize -q -j1 --profile "$PROFILE" --on-malformed drop --on-invalid-utf8 drop --on-rejected drop --no-sync --rejects "$bad" | sed "s/^/+/; s/\r$//" &&
sed "s/^/-/" "$bad"'"""


def by_pipe(spark, lines, profile, pct):
    characters = lines.select(functions.decode(lines.value.cast('binary'), 'ISO-8859-1').alias('value')).rdd.map(lambda row: row.value)
    environment = {'PATH': '/usr/local/bin:/usr/bin:/bin', 'LC_ALL': 'C', 'PCT': pct, 'PROFILE': profile}

    def row(line):
        if line[0] == '+':
            return line[1:], 1, None, None, None, None
        # The column `reason` has the reason and the row, which `pct` has escaped so that it is one line.
        return None, 1, re.sub(r'^-<stdin>:\d+:\d+: ', '', line), None, None, None

    # With checkCode, the job fails if the command fails. Otherwise, rows would be missing without an error.
    return spark.createDataFrame(characters.pipe(PIPE, environment, checkCode=True).map(row), SCHEMA)


def run(spark, files, out, profile='rfc3986-scheme', log=False, pct=None):
    """Writes OUT/urls, OUT/domains (not with `pct`) and OUT/bad, and returns the number of distinct forms, of rows that have one, and of bad rows."""
    # With lineSep, a carriage return alone does not end a line. Latin-1 preserves bytes that are not valid UTF-8.
    lines = spark.read.option('lineSep', '\n').text(files)
    done = by_pipe(spark, lines, profile, pct) if pct else by_wheel(lines, profile, log)
    # All outputs are made from one pass. If an executor is lost, Spark computes its rows again. So tasks write no output of their own,
    # which would then have rows twice, and count in no accumulator, which would count rows twice.
    done = done.persist(StorageLevel.DISK_ONLY)
    good, rows = done.where('reason is null'), functions.sum('rows').alias('rows')
    if pct:
        good.groupBy('url').agg(rows).write.parquet(f'{out}/urls')
    else:
        good.groupBy('url').agg(rows, functions.min('example').alias('example')).write.parquet(f'{out}/urls')
        good.groupBy('domain').agg(rows).write.parquet(f'{out}/domains')
    done.where('reason is not null').select('reason', 'row').write.parquet(f'{out}/bad')
    done.unpersist()
    forms, rows = spark.read.parquet(f'{out}/urls').agg(functions.count('*'), functions.sum('rows')).first()
    return forms, rows or 0, spark.read.parquet(f'{out}/bad').count()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('files', nargs='+', metavar='FILE', help='whatever Spark reads: paths, folders, patterns, URLs')
    parser.add_argument('--out', required=True, metavar='DIR', help='must not be there yet')
    parser.add_argument('--profile', default='rfc3986-scheme', help='the canonical form: `pct normalize --list` (default: %(default)s)')
    how = parser.add_mutually_exclusive_group()
    how.add_argument('--log', action='store_true', help='lines of an access log')
    how.add_argument('--pipe', metavar='PCT', help='canonicalize with this command, by rdd.pipe')
    options = parser.parse_args()
    with SparkSession.builder.appName('distinct URLs').getOrCreate() as spark:
        forms, rows, bad = run(spark, options.files, options.out, options.profile, options.log, options.pipe)
    print(f'{forms} distinct URLs in {rows} rows, and {bad} bad rows')


if __name__ == '__main__':
    main()
