//! Functions that compute a value from their arguments and do nothing else.
//!
//! A function is not in a list if it writes, waits, locks, runs a text as a statement, reads files or
//! settings, or tells of tables, roles or sessions.

use crate::Dialect;

pub(crate) fn is_function(dialect: Dialect, name: &str) -> bool {
    let own = match dialect {
        Dialect::Sqlite => SQLITE,
        Dialect::Postgres => POSTGRES,
        Dialect::MySql | Dialect::MariaDb => MYSQL,
    };
    let mut known = COMMON.split_ascii_whitespace().chain(own.split_ascii_whitespace());
    known.any(|known| known == name)
}

/// The columns of a function that makes a table: none if it has one of its own name.
pub(crate) fn table_function_columns(
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
    ("st_dump", &["path", "geom"]),
    ("st_dumppoints", &["path", "geom"]),
    ("st_dumprings", &["path", "geom"]),
];

/// Those that all four have, or that do nothing harmful where one has them.
const COMMON: &str = "\
    abs acos asin atan atan2 avg ceil ceiling char_length character_length coalesce concat \
    concat_ws cos cot count cume_dist current_date current_time current_timestamp degrees \
    dense_rank exp first_value floor greatest lag last_value lead least left length ln log log10 \
    log2 lower lpad ltrim max min mod nth_value ntile nullif octet_length percent_rank pi power \
    radians rank repeat replace reverse right round row_number rpad rtrim sign sin sqrt substr \
    substring sum tan trim upper";

/// Built in, or of the extensions for texts, keys, vectors and places. Those of PostGIS that make rows
/// or points without end, read statistics or change tables are not among them.
const POSTGRES: &str = "\
    abbrev acosd acosh age akeys any_value area array array_agg array_append array_cat array_dims \
    array_length array_lower array_ndims array_position array_positions array_prepend \
    array_remove array_replace array_reverse array_sample array_shuffle array_sort array_to_json \
    array_to_string array_to_tsvector array_upper ascii asind asinh atan2d atand atanh avals \
    binary_quantize bit_and bit_count bit_length bit_or bit_xor bool_and bool_or bound_box box \
    broadcast btrim cardinality casefold cbrt center chr circle clock_timestamp convert_from \
    convert_to corr cosd cosh cosine_distance cotd covar_pop covar_samp crc32 crc32c \
    cube_distance current_catalog current_database current_role current_schema current_user \
    daitch_mokotoff date date_add date_bin date_part date_subtract date_trunc datemultirange \
    daterange decode diagonal diameter difference digest div dmetaphone earth_box earth_distance \
    encode enum_first enum_last enum_range erf erfc every extract family float8 format gamma gcd \
    gen_random_uuid generate_series generate_subscripts geometrytype get_bit get_byte grouping \
    hamming_distance height hmac host hostmask hstore hstore_to_json hstore_to_jsonb inet_merge \
    inet_same_family initcap inner_product int4 int4multirange int4range int8 int8multirange \
    int8range isclosed isempty isfinite isopen jaccard_distance json_agg json_agg_strict \
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
    justify_days justify_hours justify_interval l1_distance l2_distance l2_normalize lcm \
    levenshtein levenshtein_less_equal lgamma line ll_to_earth localtime localtimestamp lower_inc \
    lower_inf lseg ltree2text macaddr8_set7bit make_date make_interval make_time make_timestamp \
    make_timestamptz masklen md5 metaphone min_scale mode multirange netmask network nlevel \
    normalize now npoints num_nonnulls num_nulls nummultirange numnode numrange overlay \
    parse_ident path pclose percentile_cont percentile_disc pg_column_size pg_size_pretty \
    pg_typeof phraseto_tsquery plainto_tsquery point polygon popen position pow querytree \
    quote_ident quote_literal quote_nullable radius random random_normal range_agg \
    range_intersect_agg range_merge regexp_count regexp_instr regexp_like regexp_match \
    regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table regexp_substr \
    regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy \
    row row_to_json scale set_bit set_byte set_masklen setweight sha224 sha256 sha384 sha512 \
    show_trgm similarity sind sinh skeys slope soundex split_part st_3ddistance st_addpoint \
    st_area st_asbinary st_asewkb st_asewkt st_asgeojson st_askml st_aslatlontext st_assvg \
    st_astext st_azimuth st_boundary st_boundingdiagonal st_buffer st_buildarea st_centroid \
    st_clipbybox2d st_closestpoint st_clusterdbscan st_clusterintersecting st_clusterkmeans \
    st_clusterwithin st_collect st_collectionextract st_concavehull st_contains \
    st_containsproperly st_convexhull st_coorddim st_coveredby st_covers st_crosses \
    st_curvetoline st_delaunaytriangles st_dfullywithin st_difference st_dimension st_disjoint \
    st_distance st_distancesphere st_distancespheroid st_dump st_dumppoints st_dumprings \
    st_dwithin st_endpoint st_envelope st_equals st_expand st_extent st_exteriorring \
    st_flipcoordinates st_force2d st_force3d st_frechetdistance st_geogfromtext st_geogfromwkb \
    st_geographyfromtext st_geohash st_geometryfromtext st_geometryn st_geometrytype \
    st_geomfromewkt st_geomfromgeohash st_geomfromgeojson st_geomfromtext st_geomfromwkb \
    st_hausdorffdistance st_interiorringn st_interpolatepoint st_intersection st_intersects \
    st_isclosed st_iscollection st_isempty st_isring st_issimple st_isvalid st_isvalidreason \
    st_length st_length2d st_lengthspheroid st_linefromtext st_lineinterpolatepoint \
    st_linelocatepoint st_linemerge st_linesubstring st_longestline st_m st_makeenvelope \
    st_makeline st_makepoint st_makepointm st_makepolygon st_makevalid st_maxdistance \
    st_minimumboundingcircle st_multi st_ndims st_normalize st_npoints st_nrings st_numgeometries \
    st_numinteriorrings st_numpoints st_orderingequals st_overlaps st_perimeter st_point \
    st_pointfromgeohash st_pointfromtext st_pointn st_pointonsurface st_points st_polygon \
    st_polygonfromtext st_polygonize st_project st_reduceprecision st_relate st_removepoint \
    st_reverse st_rotate st_scale st_setpoint st_setsrid st_sharedpaths st_shiftlongitude \
    st_shortestline st_simplify st_simplifypreservetopology st_snap st_snaptogrid st_split \
    st_srid st_startpoint st_subdivide st_summary st_swapordinates st_symdifference st_touches \
    st_transform st_translate st_unaryunion st_union st_voronoipolygons st_within st_wrapx st_x \
    st_xmax st_xmin st_y st_ymax st_ymin st_z starts_with statement_timestamp stddev stddev_pop \
    stddev_samp strict_word_similarity string_agg string_to_array string_to_table strip strpos \
    subltree subpath subvector svals tand tanh text text2ltree timeofday timezone to_ascii \
    to_char to_date to_hex to_json to_jsonb to_number to_timestamp to_tsquery to_tsvector \
    transaction_timestamp translate trim_array trim_scale trunc ts_delete ts_filter ts_headline \
    ts_rank ts_rank_cd tsmultirange tsquery_phrase tsrange tstzmultirange tstzrange \
    tsvector_to_array unaccent unistr unnest upper_inc upper_inf user uuid_extract_timestamp \
    uuid_extract_version uuid_generate_v1 uuid_generate_v1mc uuid_generate_v3 uuid_generate_v4 \
    uuid_generate_v5 uuid_nil uuid_ns_dns uuid_ns_oid uuid_ns_url uuid_ns_x500 uuidv4 uuidv7 \
    var_pop var_samp variance vector_dims vector_norm version websearch_to_tsquery width \
    width_bucket word_similarity";

/// Of MySQL and MariaDB.
const MYSQL: &str = "\
    add_months adddate addtime any_value ascii bin bin_to_uuid bit_and bit_count bit_length \
    bit_or bit_xor cast char charset chr coercibility collation conv convert convert_tz crc32 \
    curdate current_user curtime database date date_add date_format date_sub datediff day dayname \
    dayofmonth dayofweek dayofyear elt export_set field find_in_set format format_bytes \
    from_base64 from_days from_unixtime geometrycollection group_concat grouping hex hour if \
    ifnull inet6_aton inet6_ntoa inet_aton inet_ntoa insert instr interval is_ipv4 is_ipv6 \
    is_uuid isnull json_array json_array_append json_array_insert json_arrayagg json_compact \
    json_contains json_contains_path json_depth json_detailed json_equals json_exists \
    json_extract json_insert json_keys json_length json_loose json_merge json_merge_patch \
    json_merge_preserve json_normalize json_object json_objectagg json_overlaps json_pretty \
    json_query json_quote json_remove json_replace json_schema_valid json_search json_set \
    json_storage_size json_table json_type json_unquote json_valid json_value last_day lcase \
    lengthb linestring localtime localtimestamp locate make_set makedate maketime mbrcontains \
    mbrcoveredby mbrcovers mbrdisjoint mbrequals mbrintersects mbroverlaps mbrtouches mbrwithin \
    md5 median microsecond mid minute month monthname multilinestring multipoint multipolygon \
    natural_sort_key now nvl nvl2 oct ord percentile_cont percentile_disc period_add period_diff \
    point polygon position pow quarter quote rand random_bytes regexp_instr regexp_like \
    regexp_replace regexp_substr row schema sec_to_time second sformat sha sha1 sha2 soundex \
    space st_area st_asbinary st_asgeojson st_astext st_aswkb st_aswkt st_boundary st_buffer \
    st_centroid st_collect st_contains st_convexhull st_crosses st_difference st_dimension \
    st_disjoint st_distance st_distance_sphere st_endpoint st_envelope st_equals st_exteriorring \
    st_frechetdistance st_geohash st_geometryfromtext st_geometryfromwkb st_geometryn \
    st_geometrytype st_geomfromgeojson st_geomfromtext st_geomfromwkb st_hausdorffdistance \
    st_interiorringn st_intersection st_intersects st_isclosed st_isempty st_isring st_issimple \
    st_isvalid st_latfromgeohash st_latitude st_length st_linefromtext st_lineinterpolatepoint \
    st_longfromgeohash st_longitude st_makeenvelope st_numgeometries st_numinteriorrings \
    st_numpoints st_overlaps st_perimeter st_point st_pointfromgeohash st_pointfromtext st_pointn \
    st_pointonsurface st_polyfromtext st_polygonfromtext st_relate st_simplify st_srid \
    st_startpoint st_swapxy st_symdifference st_touches st_transform st_union st_validate \
    st_within st_x st_y std stddev stddev_pop stddev_samp str_to_date strcmp subdate \
    substring_index subtime sysdate time time_format time_to_sec timediff timestamp timestampadd \
    timestampdiff to_base64 to_char to_days to_seconds truncate ucase unhex unix_timestamp user \
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
    strftime string_agg tanh time timediff total trunc typeof unhex unicode unistr unixepoch \
    unlikely zeroblob";
