//! Functions that compute a value from their arguments and do nothing else.
//!
//! A function is not in a list if it writes, waits, locks, runs a text as a statement, reads files or
//! settings, or tells of tables, roles or sessions.

use crate::Dialect;

pub(super) fn is_function(dialect: Dialect, name: &str) -> bool {
    let own = match dialect {
        Dialect::Sqlite => SQLITE,
        Dialect::Postgres => POSTGRES,
        Dialect::MySql | Dialect::MariaDb => MYSQL,
    };
    let mut known = COMMON.split_ascii_whitespace().chain(own.split_ascii_whitespace());
    known.any(|known| known == name)
}

/// The columns of a function that makes a table: none if it has one of its own name.
pub(super) fn table_function_columns(
    dialect: Dialect,
    name: &str,
) -> Option<&'static [&'static str]> {
    let tables: &[(&str, &[&str])] = match dialect {
        Dialect::Sqlite => SQLITE_TABLES,
        Dialect::Postgres => POSTGRES_TABLES,
        Dialect::MySql | Dialect::MariaDb => &[],
    };
    tables.iter().find(|(known, _)| *known == name).map(|(_, columns)| *columns)
}

const SQLITE_TABLES: &[(&str, &[&str])] = &[
    ("json_each", JSON_ROW),
    ("json_tree", JSON_ROW),
    ("jsonb_each", JSON_ROW),
    ("jsonb_tree", JSON_ROW),
    ("generate_series", &["value"]),
];

const JSON_ROW: &[&str] = &["key", "value", "type", "atom", "id", "parent", "fullkey", "path"];

/// Those whose columns are named by what they return. All others are named by an alias.
const POSTGRES_TABLES: &[(&str, &[&str])] = &[
    ("json_each", &["key", "value"]),
    ("jsonb_each", &["key", "value"]),
    ("json_each_text", &["key", "value"]),
    ("jsonb_each_text", &["key", "value"]),
    ("json_array_elements", &["value"]),
    ("jsonb_array_elements", &["value"]),
    ("json_array_elements_text", &["value"]),
    ("jsonb_array_elements_text", &["value"]),
];

/// Those that all four have, or that do nothing harmful where one has them.
const COMMON: &str = "\
    abs acos asin atan atan2 avg ceil ceiling char_length character_length coalesce concat \
    concat_ws cos cot count cume_dist current_date current_time current_timestamp degrees \
    dense_rank exp first_value floor greatest lag last_value lead least left length ln log log10 \
    log2 lower lpad ltrim max min mod nth_value ntile nullif octet_length percent_rank pi power \
    radians rank repeat replace reverse right round row_number rpad rtrim sign sin sqrt substr \
    substring sum tan trim upper";

/// Built in, or of the extensions for texts, keys and vectors.
const POSTGRES: &str = "\
    abbrev acosd acosh age akeys any_value area array array_agg array_append array_cat \
    array_dims array_length array_lower array_ndims array_position array_positions array_prepend \
    array_remove array_replace array_reverse array_sample array_shuffle array_sort array_to_json \
    array_to_string array_to_tsvector array_upper ascii asind asinh atan2d atand atanh avals \
    bit_and bit_count bit_length bit_or bit_xor bool_and bool_or bound_box box broadcast btrim \
    cardinality cbrt center chr circle clock_timestamp convert_from convert_to corr cosd cosh \
    cosine_distance cotd covar_pop covar_samp current_database current_schema date date_add \
    date_bin date_part date_subtract date_trunc datemultirange daterange decode diagonal \
    diameter difference digest div dmetaphone encode enum_first enum_last enum_range erf erfc \
    every extract family float8 format gcd gen_random_uuid generate_series generate_subscripts \
    get_bit get_byte grouping height hmac host hostmask hstore hstore_to_json hstore_to_jsonb \
    inet_merge inet_same_family initcap inner_product int4 int4multirange int4range int8 \
    int8multirange int8range isclosed isempty isfinite isopen json_agg json_agg_strict \
    json_array json_array_elements json_array_elements_text json_array_length json_arrayagg \
    json_build_array json_build_object json_each json_each_text json_exists json_extract_path \
    json_extract_path_text json_object json_object_agg json_object_agg_strict json_object_keys \
    json_objectagg json_query json_scalar json_serialize json_strip_nulls json_to_record \
    json_to_recordset json_to_tsvector json_typeof json_value jsonb_agg jsonb_agg_strict \
    jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array \
    jsonb_build_object jsonb_each jsonb_each_text jsonb_extract_path jsonb_extract_path_text \
    jsonb_insert jsonb_object jsonb_object_agg jsonb_object_agg_strict jsonb_object_keys \
    jsonb_path_exists jsonb_path_exists_tz jsonb_path_match jsonb_path_match_tz jsonb_path_query \
    jsonb_path_query_array jsonb_path_query_array_tz jsonb_path_query_first \
    jsonb_path_query_first_tz jsonb_path_query_tz jsonb_pretty jsonb_set jsonb_set_lax \
    jsonb_strip_nulls jsonb_to_record jsonb_to_recordset jsonb_to_tsvector jsonb_typeof \
    justify_days justify_hours justify_interval l2_distance lcm levenshtein \
    levenshtein_less_equal line localtime localtimestamp lower_inc lower_inf lseg \
    macaddr8_set7bit make_date make_interval make_time make_timestamp make_timestamptz masklen \
    md5 metaphone min_scale mode multirange netmask network normalize now npoints num_nonnulls \
    num_nulls nummultirange numnode numrange overlay parse_ident path pclose percentile_cont \
    percentile_disc pg_column_size pg_typeof phraseto_tsquery plainto_tsquery point polygon \
    popen position pow querytree quote_ident quote_literal quote_nullable radius random \
    random_normal range_agg range_intersect_agg range_merge regexp_count regexp_instr \
    regexp_like regexp_match regexp_matches regexp_replace regexp_split_to_array \
    regexp_split_to_table regexp_substr regr_avgx regr_avgy regr_count regr_intercept regr_r2 \
    regr_slope regr_sxx regr_sxy regr_syy row row_to_json scale set_bit set_byte set_masklen \
    setweight sha224 sha256 sha384 sha512 show_trgm similarity sind sinh skeys slope soundex \
    split_part starts_with statement_timestamp stddev stddev_pop stddev_samp \
    strict_word_similarity string_agg string_to_array string_to_table strip strpos svals tand \
    tanh text timeofday timezone to_ascii to_char to_date to_hex to_json to_jsonb to_number \
    to_timestamp to_tsquery to_tsvector transaction_timestamp translate trim_array trim_scale \
    trunc ts_delete ts_filter ts_headline ts_rank ts_rank_cd tsmultirange tsquery_phrase tsrange \
    tstzmultirange tstzrange tsvector_to_array unaccent unistr unnest upper_inc upper_inf \
    uuid_extract_timestamp uuid_extract_version uuid_generate_v4 uuidv7 var_pop var_samp \
    variance vector_dims vector_norm version websearch_to_tsquery width width_bucket \
    word_similarity";

/// Of MySQL and MariaDB.
const MYSQL: &str = "\
    add_months adddate addtime any_value ascii bin bin_to_uuid bit_and bit_count bit_length \
    bit_or bit_xor cast char chr conv convert convert_tz crc32 curdate curtime database date \
    date_add date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear elt \
    export_set field find_in_set format from_base64 from_days from_unixtime group_concat \
    grouping hex hour if ifnull inet6_aton inet6_ntoa inet_aton inet_ntoa insert instr interval \
    is_ipv4 is_ipv6 is_uuid isnull json_array json_array_append json_array_insert json_arrayagg \
    json_compact json_contains json_contains_path json_depth json_detailed json_equals \
    json_exists json_extract json_insert json_keys json_length json_loose json_merge \
    json_merge_patch json_merge_preserve json_normalize json_object json_objectagg json_overlaps \
    json_pretty json_query json_quote json_remove json_replace json_search json_set \
    json_storage_size json_table json_type json_unquote json_valid json_value last_day lcase \
    lengthb localtime localtimestamp locate make_set makedate maketime md5 median microsecond \
    mid minute month monthname natural_sort_key now nvl nvl2 oct ord percentile_cont \
    percentile_disc period_add period_diff point position pow quarter quote rand regexp_instr \
    regexp_like regexp_replace regexp_substr row schema sec_to_time second sformat sha sha1 sha2 \
    soundex space st_area st_asbinary st_asgeojson st_astext st_contains st_distance \
    st_distance_sphere st_geomfromtext st_intersects st_latitude st_length st_longitude st_point \
    st_srid st_within st_x st_y std stddev stddev_pop stddev_samp str_to_date strcmp subdate \
    substring_index subtime sysdate time time_format time_to_sec timediff timestamp timestampadd \
    timestampdiff to_base64 to_char to_days to_seconds truncate ucase unhex unix_timestamp \
    utc_date utc_time utc_timestamp uuid uuid_to_bin var_pop var_samp variance version week \
    weekday weekofyear weight_string year yearweek";

/// Built in, and those of full-text search.
const SQLITE: &str = "\
    acosh asinh atanh bm25 char cosh date datetime format glob group_concat hex highlight if \
    ifnull iif instr json json_array json_array_length json_error_position json_extract \
    json_group_array json_group_object json_insert json_object json_patch json_pretty json_quote \
    json_remove json_replace json_set json_type json_valid jsonb jsonb_array jsonb_extract \
    jsonb_group_array jsonb_group_object jsonb_insert jsonb_object jsonb_patch jsonb_remove \
    jsonb_replace jsonb_set julianday like likelihood likely median percentile percentile_cont \
    percentile_disc pow printf quote random randomblob sinh snippet soundex sqlite_version \
    strftime string_agg tanh time timediff total trunc typeof unhex unicode unixepoch unlikely \
    zeroblob";
