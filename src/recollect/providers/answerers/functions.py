"""The functions a question may use: those that compute something from their arguments and touch nothing else.

A list of what is allowed, because a list of what is forbidden is never finished: every extension brings new functions, and the
dangerous ones (files, network, sleeping, sequences, settings, locks, large objects) look like any other. Functions that make
much out of little (`repeat`, `lpad`, `zeroblob`, `printf`, `generate_series`) stay out as well.
"""

from __future__ import annotations

_COMMON = """
    abs acos asin atan atan2 avg ceil ceiling coalesce concat concat_ws cos count cume_dist date degrees dense_rank exp
    first_value floor greatest lag last_value lead least length ln log log10 log2 lower ltrim max min mod nth_value ntile
    nullif percent_rank pi pow power radians rank replace round row_number rtrim sign sin sqrt substr substring sum tan trim
    upper
"""
_OF = {
    "sqlite": """
        datetime group_concat ifnull iif instr julianday strftime string_agg time total trunc typeof unicode unixepoch
        like glob current_date current_timestamp current_time
    """,
    "postgres": """
        age array_agg bool_and bool_or char_length corr date_part date_trunc every extract initcap justify_days
        make_date mode now percentile_cont percentile_disc position regexp_replace reverse split_part stddev
        stddev_pop stddev_samp starts_with string_agg strpos to_char to_date to_number to_timestamp trunc var_pop var_samp
        variance width_bucket current_date current_timestamp localtimestamp
    """,
    "mysql": """
        char_length curdate date_add date_format date_sub datediff day dayname dayofmonth dayofweek extract group_concat hour if
        ifnull instr last_day left locate minute month monthname now quarter right stddev str_to_date truncate variance week
        weekday year current_date current_timestamp
    """,
    "tsql": """
        cast convert charindex count_big dateadd datediff datename datepart day eomonth getdate iif isnull left len month
        right stdev string_agg year current_timestamp
    """,
    "oracle": "add_months decode extract last_day listagg months_between nvl nvl2 to_char to_date to_number trunc",
    "duckdb": """
        date_diff date_part date_trunc day extract hour list median mode month quarter strftime string_agg week year
        current_date
    """,
}
# Written with parentheses, but no functions.
SYNTAX = frozenset(
    """
    select from where and or not in exists any all some between like ilike is null distinct as on using over partition by
    order filter within group having union intersect except join inner left right full outer cross with values case when
    then else end cast try_cast limit offset interval rows range groups preceding following current row unbounded at time
    zone varchar char nchar nvarchar character varying decimal numeric dec number float precision double timestamp
    timestamptz bit similar to escape rollup cube grouping sets real integer int bigint smallint text date
    """.split()
)
TYPES = frozenset(
    """
    bigint bool boolean char character date datetime decimal dec double float int int2 int4 int8 integer interval nchar number
    numeric nvarchar precision real smallint text time timestamp timestamptz tinyint varchar varying bigdecimal
    """.split()
)


def allowed_functions(dialect: str) -> frozenset[str]:
    return frozenset((_COMMON + _OF.get(dialect, "")).split())
